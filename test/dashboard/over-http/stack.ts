import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalStack, type StackOptions, startStack } from '../../../local/host/stack.ts';
import { readAssembly } from '../../../local/host/template/assembly.ts';
import { createResolver } from '../../../local/host/template/intrinsics.ts';
import { type MockProviders, startMockProviders } from '../../../local/mock/providers.ts';
import { currentAssembly } from '../../../local/synth.ts';
import { checkDescribed } from '../../http/described-api.ts';
import { policiesOf } from '../../policies/judge.ts';
import { watchCalls } from '../../policies/watch.ts';

/**
 * The current templates and bundles. A fresh checkout synthesizes them, and test files that run at the same time wait for it: here, where
 * no time-out ends it.
 */
export const currentStacks = await currentAssembly(join(import.meta.dirname, '../../..'), () => {});

/** Timeout of starting a stack. */
export const STACK_TIMEOUT_MS = 600_000;

/** Writes down what `npm run policies` counts. */
const note = async (lines: readonly string[]): Promise<void> => {
  const { POLICIES_USED } = process.env;
  if (POLICIES_USED !== undefined) await appendFile(POLICIES_USED, [...lines, ''].join('\n'));
};

/** The stack whose schedules run on demand. */
let onDemand: LocalStack | undefined;

/**
 * The local stack with mock providers and its own data folder. When it stops, every call of AWS that its functions have made is judged by
 * their policies.
 *
 * @param options.scheduleEveryMs interval of all schedules; each run takes a third of a second of processor time
 * @param options.environment values instead of the templates'
 * @param options.assembly templates and bundles instead of the current ones
 * @param options.isWatched false: no call is judged, and each takes half the time
 * @param environmentOf the same, where they depend on the mock providers
 */
export const startTestStack = async ({
  environmentOf,
  isWatched = true,
  assembly = currentStacks,
  ...options
}: Pick<StackOptions, 'scheduleEveryMs' | 'environment'> & {
  readonly environmentOf?: (mock: MockProviders) => Readonly<Record<string, string>>;
  readonly assembly?: string | undefined;
  readonly isWatched?: boolean;
} = {}) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'api-'));
  const mock = await startMockProviders();
  const watched = watchCalls();
  const stack = await startStack({
    dataDir,
    port: 0,
    assembly,
    ...(isWatched && { inFrontOf: watched.inFrontOf }),
    ...options,
    environment: {
      ...mock.environment,
      OPEN_EVENT_DELAY_SECONDS: '1',
      ...options.environment,
      ...environmentOf?.(mock),
    },
  });
  onDemand = options.scheduleEveryMs === undefined ? stack : undefined;
  return {
    stack,
    calls: watched.calls,
    failWhere: watched.failWhere,
    stop: async () => {
      await stack.stop();
      watched.stop();
      await mock.stop();
      const stacks = readAssembly(assembly);
      const { used, refused } = policiesOf({ stacks, resolve: createResolver(stacks, '') }).judge(watched.calls);
      await note([...used]);
      if (refused.length > 0) throw new Error(`No policy of the functions allows this:\n${refused.join('\n')}`);
    },
  };
};

export type TestStack = Awaited<ReturnType<typeof startTestStack>>;

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly mediaType: string | undefined;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
  readonly body: any;
}

export interface Request {
  readonly query?: URLSearchParams | string;
  readonly body?: unknown;
  readonly rawBody?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly token?: string | undefined;
}

/** Calls the dashboard API and checks the response against the OpenAPI document. */
export const callApi =
  (url: string) =>
  async (
    method: string,
    path: string,
    { query, body, rawBody, headers, token }: Request = {},
  ): Promise<ApiResponse> => {
    const content = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${url}/api${path}${query ? `?${query}` : ''}`, {
      method,
      ...(content !== undefined && { body: content }),
      headers: {
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    const text = await response.text();
    const { status, headers: given } = response;
    const mediaType = given.get('content-type')?.split(';')[0];
    const operation = checkDescribed(method, path.replace(/\?.*/, ''), { status, mediaType, text });
    if (response.ok && operation !== undefined) await note([`operation ${operation}`]);
    const isJson = mediaType === 'application/json' && text !== '';
    return { status, headers: given, mediaType, text, body: isJson ? JSON.parse(text) : undefined };
  };

export const PASSWORD = 'correct horse 1';

export interface Session {
  readonly email: string;
  readonly accountId: string;
  readonly userId: string;
  readonly token: string;
  readonly refreshToken: string;
}

/** Registers a new account. `accountId` is the account key. */
export const registerAccount = async (url: string): Promise<Session> => {
  const email = `${randomUUID()}@example.com`;
  const { status, text, body } = await callApi(url)('POST', '/auth/register', {
    body: { email, password: PASSWORD, firstName: 'Ada', lastName: 'Lovelace' },
  });
  if (status !== 201) throw new Error(`The registration failed with ${status}: ${text}`);
  return { email, ...body };
};

/** The session that every chat with this key belongs to. */
export const sessionOf = (serviceKey: string): string => `session-${serviceKey.slice(-12)}`;

/** Verifies the address with the code from the inbox: before that, no alert is mailed to it. */
export const verifyEmail = async (
  { stack }: Pick<TestStack, 'stack'>,
  { email, token }: Pick<Session, 'email' | 'token'>,
): Promise<void> => {
  const letters = (await stack.inbox()).filter(({ destination }) => destination.to.includes(email));
  const code = letters
    .map(({ body }) => /^\d{4} \d{4}$/m.exec(body.text ?? '')?.[0])
    .find((text) => text !== undefined);
  const { status, text } = await callApi(stack.url)('POST', '/auth/verify-email', { token, body: { code } });
  if (status !== 204) throw new Error(`The address was not verified: ${status} ${text}`);
};

/** Makes a new member of an account whose owner is verified: invites an address, and follows the link in the mail. */
export const joinAccount = async (
  { stack }: Pick<TestStack, 'stack'>,
  { token }: Pick<Session, 'token'>,
  role: string,
  email = `${randomUUID()}@example.com`,
  projects?: readonly string[],
): Promise<Session> => {
  const api = callApi(stack.url);
  const invited = await api('POST', '/invitations', { token, body: { email, role, projects } });
  if (invited.status !== 201) throw new Error(`The invitation failed with ${invited.status}: ${invited.text}`);
  const [invitation] = (await stack.inbox())
    .filter(({ destination }) => destination.to.includes(email))
    .flatMap(({ body }) => /accept-invitation#(\S+)/.exec(body.text ?? '')?.[1] ?? []);
  const accepted = await api('POST', '/auth/accept-invitation', {
    body: { token: invitation, password: PASSWORD, firstName: 'Grace', lastName: 'Hopper' },
  });
  if (accepted.status !== 201) throw new Error(`The invitation was not accepted: ${accepted.text}`);
  return { email, ...accepted.body };
};

/** Sends one tracked request through the gateway. The prompt sets the tokens that the mock provider reports. */
export const sendChat = async (url: string, serviceKey: string, tag?: string): Promise<string> => {
  const response = await fetch(`${url}/gateway/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-key': serviceKey,
      authorization: 'Bearer sk-test',
      'x-service-session': sessionOf(serviceKey),
      ...(tag !== undefined && { 'x-service-tag': tag }),
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello. [in 1000, out 100]' }],
    }),
  });
  await response.text();
  if (response.status !== 200) throw new Error(`The gateway responded with ${response.status}`);
  return response.headers.get('x-service-request-id') ?? '';
};

/**
 * Polls until the result is as expected. In between, scheduled functions run: nothing waits for their time.
 *
 * @param scheduled labels of those that the result needs, such as `Rollup`; all by default, which takes seconds of processor time
 */
export const eventually = async <T>(
  ask: () => Promise<T>,
  isExpected: (result: T) => boolean,
  { scheduled }: { readonly scheduled?: readonly string[] } = {},
): Promise<T> => {
  const deadline = Date.now() + 240_000;
  for (;;) {
    const result = await ask();
    if (isExpected(result)) return result;
    if (Date.now() > deadline) throw new Error(`Not as expected in time: ${JSON.stringify(result)}`);
    await sleep(100);
    await onDemand?.runSchedules(scheduled);
  }
};
