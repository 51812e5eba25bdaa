import { beforeEach, describe, expect, it } from '@jest/globals';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { accountKey } from '../../lambda/data/table/keys.ts';
import { itemsUnder } from '../../lambda/data/table/read.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { MAX_DEVELOPER_KEYS } from '../../lambda/domain/accounts/permissions.ts';
import { newAccount, newMember } from '../data/new-account.ts';
import { callAs } from '../http/invoke.ts';
import { dashboardForTests, openDashboard } from './open-dashboard.ts';
import { identityApi } from './open-identity.ts';

const webhookUrlProblem = async () => undefined;
const { table, clock, caller, call } = dashboardForTests({ webhookUrlProblem });
const now = () => new Date(clock);
const membershipOf = async () => ({ ...caller, role: 'owner' as const, name: 'ada@example.com', keyIds: undefined });
type Call = typeof call;
type Request = (call: Call) => ReturnType<Call>;

const directory = {
  createUser: async () => 'program',
  setPassword: async () => {},
  deleteUser: async () => {},
  findByEmail: async () => undefined,
};

beforeEach(async () => {
  Object.assign(caller, await newAccount(table, 'PRO'));
});

/** The API over a table, as its owner calls it. */
const over = (opened: Table): Call => {
  const dashboard = callAs(openDashboard(opened, now, { webhookUrlProblem }), caller);
  const sendMail = async () => {};
  const identity = callAs(identityApi(opened, { directory, sendMail, now }, { membershipOf }), caller);
  return (...of) => (/^.(members|invitations|tokens)/.test(of[1]) ? identity : dashboard)(...of);
};

/** Two requests, of which the second comes after what the first has read, and before it writes. */
const overtaken = async (first: Request, second: Request) => {
  let other: Awaited<ReturnType<Call>> | undefined;
  const raced = raceTable(table, async () => {
    other = await second(over(table));
  });
  const { status, body } = await first(over(raced));
  return [other?.status, status, body?.error?.code];
};

describe('of two requests at once', () => {
  it.each([
    ['projects', 'PROJECT#', 99, {}],
    ['views', 'VIEW#', 50, { page: 'overview', search: '' }],
    ['reports', 'REPORT#', 20, { schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] }],
    ['destinations', 'DESTINATION#', 5, { type: 'manifests', url: 'https://example.com/' }],
    ['keys', 'KEY#', MAX_DEVELOPER_KEYS, {}],
  ])('one makes the last of the %s that there may be', async (items, prefix, limit, facts) => {
    await newMember(table, caller.accountId, 'dev', 'developer');
    const as = items === 'keys' ? { userId: 'dev', role: 'developer' as const } : {};
    const make: Request = (send) => send('POST', `/${items}`, { name: `${count++}`, ...facts }, as);
    let count = 0;
    expect((await make(call)).status).toBe(201);
    const stored = await Array.fromAsync(itemsUnder(table, { pk: accountKey(caller.accountId).pk, sk: prefix }));
    for (let n = 2; n < limit; n++) await write(table, put({ ...stored.at(-1), sk: `${prefix}${n}` }));
    expect(await overtaken(make, make)).toEqual([201, 409, 'LIMIT_REACHED']);
  });

  it('one changes a view, and the other is refused', async () => {
    const { body: view } = await call('POST', '/views', { name: 'This month', page: 'overview', search: '' });
    const change =
      (body: object): Request =>
      (send) =>
        send('PATCH', `/views/${view.id}`, body);
    expect(await overtaken(change({ name: 'Renamed' }), change({ search: 'by=tag' }))).toEqual([200, 409, 'CONFLICT']);
    expect((await call('GET', '/views')).body.items).toMatchObject([{ name: 'This month', search: 'by=tag' }]);
  });

  it.each<[string, (project: string) => Request, number]>([
    ['member', (project) => (send) => send('PATCH', '/members/eve', { projects: [project] }), 200],
    [
      'invitation',
      (project) => (send) =>
        send('POST', '/invitations', { email: 'a@example.com', role: 'viewer', projects: [project] }),
      201,
    ],
    ['token', (project) => (send) => send('POST', '/tokens', { name: 'CI', role: 'viewer', projects: [project] }), 201],
    [
      'rule',
      (project) => (send) =>
        send('POST', '/alert-rules', {
          name: 'a',
          type: 'cost_threshold',
          config: { threshold: 1, period: 'daily', filter: { project } },
        }),
      201,
    ],
  ])('one limits a %s to a project, or deletes it', async (_, limit, made) => {
    await newMember(table, caller.accountId, 'eve', 'viewer');
    const newProject = async () => (await call('POST', '/projects', { name: 'Search' })).body.id;
    const remove =
      (project: string): Request =>
      (send) =>
        send('DELETE', `/projects/${project}`);
    const [deleted, kept] = [await newProject(), await newProject()];
    expect(await overtaken(limit(deleted), remove(deleted))).toEqual([204, 400, 'VALIDATION_ERROR']);
    expect(await overtaken(remove(kept), limit(kept))).toEqual([made, 409, 'CONFLICT']);
  });
});
