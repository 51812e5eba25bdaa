import { unusedCodes } from '../../fixtures/totp.ts';
import {
  type ApiResponse,
  callApi,
  eventually,
  joinAccount,
  PASSWORD,
  registerAccount,
  type Session,
  type TestStack,
} from '../dashboard/over-http/stack.ts';

/** @param asMember called by somebody else than the owner */
type Step = readonly [method: string, path: string, body?: object | undefined, asMember?: true];

const MONTH = { from: '2026-01-01', to: '2026-01-31' };
const budget = { name: 'b', amount: 1, period: 'monthly', each: 'member' };
const channels = { channels: ['webhook'], webhookUrl: 'https://localhost/' };
const rule = { type: 'cost_threshold', name: 'r', config: { threshold: 1_000, period: 'daily' }, ...channels };
const decision = { kind: 'interrupted_responses', scope: { tag: 't' }, decision: 'dismissed', reason: 'r' };
const access = { name: 'a', denied: ['openai/o1*'] };
const schedule = { every: 'daily', hour: 8 };

/** Reads all there is of each resource, changes it, and removes it: what the operations need stands before them. */
const stepsWith = (email: string): readonly Step[] => [
  ['GET', '/openapi.json'],
  ['GET', '/.well-known/oauth-protected-resource/api/mcp'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/auth/clients', { client_name: 'c', redirect_uris: ['https://localhost/callback'] }],
  ['PATCH', '/auth/me', { firstName: 'Ada', lastName: 'King' }],
  ['GET', '/auth/review'],
  ['DELETE', '/auth/review'],
  ['POST', '/invitations', { email: `1-${email}`, role: 'viewer' }],
  ['GET', '/invitations'],
  ['POST', '/invitations/{id}/resend'],
  ['DELETE', '/invitations/{id}'],
  ['POST', '/invitations/batch', { lines: [{ email: `2-${email}`, role: 'viewer' }] }],
  ['PATCH', '/members/{userId}', { role: 'member' }],
  ['GET', '/sign-on'],
  ['POST', '/projects', { name: 'p' }],
  ['PATCH', '/projects/{id}', { name: 'q' }],
  ['DELETE', '/projects/{id}'],
  ['POST', '/keys', { name: 'k' }],
  ['PATCH', '/keys/{id}', { name: 'l' }],
  ['POST', '/keys/{id}/rotate', { overlapHours: 0 }],
  ['GET', '/spend/compare'],
  ['GET', '/savings'],
  ['POST', '/spend/what-if', { change: { model: 'gpt-4o' } }],
  ['PUT', '/savings/decisions', decision],
  ['DELETE', '/savings/decisions/{id}'],
  ['GET', '/metrics'],
  ['GET', '/bill-connections'],
  ['GET', `/reconciliation/{provider}?from=${MONTH.from}&to=${MONTH.to}`],
  ['GET', '/exports/changes'],
  ['PUT', '/dimensions', { names: ['team'] }],
  ['GET', '/dimensions'],
  ['POST', '/prices', { name: 'n', from: '2099-01-01', terms: { kind: 'markup', percent: 5 } }],
  ['GET', '/prices'],
  ['PATCH', '/prices/{id}', { name: 'm' }],
  ['DELETE', '/prices/{id}'],
  ['PUT', '/prices/currency', { currency: { code: 'EUR', rates: [{ from: '2026-01-01', perUsd: '0.9' }] } }],
  ['GET', '/price-changes'],
  ['GET', '/sessions'],
  ['GET', '/sessions/{sessionId}'],
  ['POST', '/views', { name: 'v', page: 'overview', search: '' }],
  ['GET', '/views'],
  ['PATCH', '/views/{id}', { name: 'w' }],
  ['DELETE', '/views/{id}'],
  ['POST', '/alert-rules', rule],
  ['POST', '/alert-rules/preview', rule],
  ['GET', '/alert-rules/{id}'],
  ['PATCH', '/alert-rules/{id}', { name: 's' }],
  ['POST', '/alert-rules/{id}/test'],
  ['DELETE', '/alert-rules/{id}'],
  ['POST', '/budgets/preview', { amount: 1, period: 'daily' }],
  ['POST', '/budgets', budget],
  ['GET', '/budgets'],
  ['GET', '/budgets/{id}'],
  ['PATCH', '/budgets/{id}', { name: 'c' }],
  ['GET', '/budgets/{id}/values'],
  ['GET', '/budgets/{id}/values/export.csv'],
  ['PUT', '/budgets/{id}/values/{value}', { amount: 2 }],
  ['GET', '/budgets/{id}/values/{value}'],
  ['POST', '/budgets/{id}/values/{value}/raises', { amount: 3, reason: 'r' }, true],
  ['GET', '/raises'],
  ['PATCH', '/raises/{id}', { isApproved: true }],
  ['GET', '/own-limits'],
  ['DELETE', '/budgets/{id}/values/{value}'],
  ['DELETE', '/budgets/{id}'],
  ['POST', '/pauses', { name: 'n', scope: { tag: 'paused' } }],
  ['GET', '/pauses'],
  ['DELETE', '/pauses/{id}'],
  ['POST', '/access-rules/preview', access],
  ['POST', '/access-rules', access],
  ['GET', '/access-rules'],
  ['PATCH', '/access-rules/{id}', { name: 'b' }],
  ['DELETE', '/access-rules/{id}'],
  ['POST', '/destinations', { name: 'd', type: 'otlp', url: 'https://localhost/' }],
  ['GET', '/destinations'],
  ['PATCH', '/destinations/{id}', { name: 'e' }],
  ['DELETE', '/destinations/{id}'],
  ['PUT', '/reports/calendar', { timeZone: 'Europe/Berlin', weekStartsOn: 'monday' }],
  ['POST', '/reports', { name: 'r', schedule, groupBy: ['model'] }],
  ['GET', '/reports'],
  ['GET', '/reports/{id}'],
  ['PATCH', '/reports/{id}', { name: 's' }],
  ['DELETE', '/reports/{id}'],
  ['POST', '/account/archives'],
  ['GET', '/account/archives'],
  ['POST', '/billing/checkout', { plan: 'PRO' }],
  ['GET', '/billing/prices'],
  ['POST', '/billing/portal'],
  ['POST', '/account/deletion', { password: PASSWORD }],
  ['GET', '/account/deletion'],
  ['DELETE', '/account/deletion'],
  ['POST', '/members/{userId}/transfer-ownership'],
];

/** With an API token, from `/machine`. */
const machineReads = [
  '/spend/compare',
  '/savings',
  `/reconciliation/{provider}?from=${MONTH.from}&to=${MONTH.to}`,
  '/exports/changes',
  '/exports',
  '/requests',
];

const succeeded = (response: ApiResponse, what: string): ApiResponse => {
  if (response.status >= 300) throw new Error(`${what} got ${response.status}: ${response.text.slice(0, 300)}`);
  return response;
};

/**
 * Calls the operations that the other tests over HTTP do not, each so that it succeeds.
 *
 * @param running whose webhooks may go to localhost
 * @param session of the owner of a new account on a plan that has room, with a request of this session
 */
export const callEveryOperation = async (running: TestStack, session: Session, sessionId: string): Promise<void> => {
  const call = async (token: string, [method, path, body]: Step) =>
    succeeded(await callApi(running.stack.url)(method, path, { token, ...(body && { body }) }), `${method} ${path}`);
  const unverified = await registerAccount(running.stack.url);
  const people = [];
  for (const role of ['admin', 'viewer', 'viewer']) people.push(await joinAccount(running, session, role));
  const [heir, leaving, removed] = people as [Session, Session, Session];

  /** What stands for a parameter, by the part of the path before it: what was made there last. */
  const ids: Record<string, string> = {
    members: heir.userId,
    values: removed.userId,
    reconciliation: 'openai',
    sessions: sessionId,
  };
  const filled = (path: string) => path.replaceAll(/([\w-]+)\/\{\w+\}/g, (_, part) => `${part}/${ids[part]}`);
  const follow = async (token: string, [method, path, body]: Step): Promise<void> => {
    const { body: made } = await call(token, [method, filled(path), body]);
    const [, part = ''] = /([\w-]+)$/.exec(path) ?? [];
    if (made?.id !== undefined) ids[part] = made.id;
  };
  for (const step of stepsWith(session.email)) await follow(step[3] ? removed.token : session.token, step);
  // The owner is an admin now, and becomes the owner again.
  await call(heir.token, ['POST', `/members/${session.userId}/transfer-ownership`]);
  await call(session.token, ['DELETE', `/members/${removed.userId}`]);

  const { token } = (await call(session.token, ['POST', '/tokens', { name: 'ci', role: 'viewer' }])).body;
  for (const path of machineReads) await call(token, ['GET', `/machine${filled(path)}`]);

  const login = { email: leaving.email, password: PASSWORD };
  const { secret } = (await call(leaving.token, ['POST', '/auth/totp', login])).body;
  const nextCode = unusedCodes(secret);
  await call(leaving.token, ['POST', '/auth/totp/confirm', { ...login, totp: await nextCode() }]);
  await call(leaving.token, ['POST', '/auth/totp/remove', { ...login, totp: await nextCode() }]);
  const newPassword = 'incorrect mare 7 batteries';
  await call(leaving.token, ['POST', '/auth/change-password', { password: PASSWORD, newPassword }]);
  const { token: again, refreshToken } = (
    await call(leaving.token, ['POST', '/auth/login', { ...login, password: newPassword }])
  ).body;
  await call(again, ['POST', '/auth/change-email', { email: `new-${leaving.email}`, password: newPassword }]);
  await call(again, ['POST', '/members/leave']);
  await call(again, ['POST', '/auth/logout', { refreshToken }]);
  // There is a minute between two codes.
  await eventually(
    () => callApi(running.stack.url)('POST', '/auth/verification-codes', { token: unverified.token }),
    ({ status }) => status < 300,
  );
};
