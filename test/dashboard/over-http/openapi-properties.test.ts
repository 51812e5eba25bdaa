import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type DescribedOperation,
  described,
  document,
  mismatchOf,
  resolve,
  validator,
} from '../../http/described-api.ts';
import { mutated, schemaArbitrary } from './schema-arbitrary.ts';
import { type ApiResponse, sendChat, sessionOf } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

let apiToken: string;
let realIds: string[];

const running = stackForTests({}, async () => {
  const { api, session, url } = running;
  const rule = { type: 'cost_threshold', name: 'n', config: { threshold: 0.0001, period: 'daily' } };
  const token = { name: 'ci', role: 'viewer' };
  apiToken = (await api('POST', '/tokens', { token: session.token, body: token })).body.token;
  realIds = [
    await sendChat(url, session.accountId, 'tag'),
    sessionOf(session.accountId),
    (await api('POST', '/alert-rules', { token: session.token, body: rule })).body.id,
    (await api('GET', '/keys', { token: session.token })).body.items[0].id,
  ];
});

/** The response matches the document and is not a 5xx. */
const expectDescribed = (operation: DescribedOperation, response: ApiResponse, sent: unknown) => {
  const mismatch = response.status >= 500 ? 'failed' : mismatchOf(operation, response);
  if (mismatch !== undefined)
    throw new Error(
      `${mismatch}: ${operation.name} responded with ${response.status} ${response.text.slice(0, 500)} to ${JSON.stringify(sent)}`,
    );
};

interface Sent {
  readonly ids: Record<string, string>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: unknown;
  readonly rawBody?: string;
  readonly token: string | undefined;
  readonly headers?: Record<string, string>;
}

const send = (
  { method, path }: DescribedOperation,
  { ids, query, body, rawBody, token, headers }: Sent,
): Promise<ApiResponse> =>
  running.api(
    method,
    path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? '')),
    {
      query: new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])),
      body,
      rawBody,
      ...(token !== undefined && { token }),
      ...(headers && { headers }),
    },
  );

const schemaOf = (schema: Parameters<typeof schemaArbitrary>[0]) => schemaArbitrary(schema, resolve);

const idsOf = ({ parameters }: DescribedOperation): fc.Arbitrary<Record<string, string>> =>
  fc.record(
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => [
          name,
          fc.oneof(
            fc.nat(2).map((index) => realIds[index] ?? ''),
            fc.uuid(),
            // As a request's id, of the year 10889.
            fc.constant('ffffffff-ffff-7fff-bfff-ffffffffffff'),
            // An empty segment or dots would change the path.
            fc.string({ minLength: 1, maxLength: 80 }).filter((id) => !/^\.{1,2}$/.test(id)),
          ),
        ]),
    ),
  );

const asPairs = (name: string, value: unknown): (readonly [string, string])[] =>
  Array.isArray(value) ? value.map((each) => [name, String(each)] as const) : [[name, String(value)]];

const validQuery = ({ parameters }: DescribedOperation) =>
  fc
    .record(
      Object.fromEntries(
        parameters.filter((parameter) => parameter.in === 'query').map(({ name, schema }) => [name, schemaOf(schema)]),
      ),
      { requiredKeys: [] },
    )
    .map((query) => Object.entries(query).flatMap(([name, value]) => asPairs(name, value)));

const wrongQuery = ({ parameters }: DescribedOperation) =>
  fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('x', ...parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)),
        fc.string({ maxLength: 10 }),
      ),
      fc.oneof(
        fc.string({ maxLength: 30 }),
        fc.constantFrom('', '-1', '1.5', 'NaN', '1e400', 'null', '2026-13-01', '0000-01-01', '9999-12-31'),
      ),
    ),
    { maxLength: 4 },
  );

const tokens = ({ isOpen }: DescribedOperation) =>
  isOpen
    ? fc.constant(undefined)
    : fc.oneof(
        { weight: 9, arbitrary: fc.constant('mine') },
        { weight: 1, arbitrary: fc.constantFrom(undefined, 'nonsense', 'a.b.c', 'é') },
      );

/** Fewer for /auth, because rejected logins and resets are slow on purpose. */
const runsOf = ({ path }: DescribedOperation) => (path.startsWith('/auth/') ? 3 : 8);

const token = (which: string | undefined, { takesApiToken }: DescribedOperation) =>
  which === 'mine' ? (takesApiToken ? apiToken : running.session.token) : which;

describe('the API and its document', () => {
  it('agree: the stack serves this document', async () => {
    expect((await running.api('GET', '/openapi.json')).body).toEqual(document);
  });

  it.each(described.map((operation) => [operation.name, operation] as const))(
    '%s responds as documented to valid requests',
    async (_, operation) => {
      const requests = fc.record({
        ids: idsOf(operation),
        query: validQuery(operation),
        body: operation.body ? schemaOf(operation.body) : fc.constant(undefined),
        token: tokens(operation),
      });
      await fc.assert(
        fc.asyncProperty(requests, async (sent) => {
          expectDescribed(operation, await send(operation, { ...sent, token: token(sent.token, operation) }), sent);
        }),
        { numRuns: runsOf(operation) },
      );
    },
  );

  it.each(described.map((operation) => [operation.name, operation] as const))(
    '%s responds as documented to invalid requests, and rejects their bodies',
    async (_, operation) => {
      const body = operation.body ? schemaOf(operation.body).chain(mutated) : fc.jsonValue({ maxDepth: 1 });
      const requests = fc.record(
        {
          ids: idsOf(operation),
          query: wrongQuery(operation),
          body,
          rawBody: fc.constantFrom('', '{', 'null', '[]', '"text"', '\u0000', `"${'x'.repeat(70_000)}"`),
          headers: fc.constantFrom(
            { 'content-type': 'text/plain' },
            { 'content-type': 'application/json; charset=utf-16' },
            { accept: 'text/html' },
          ),
          token: tokens(operation),
        },
        { requiredKeys: ['ids', 'query', 'body', 'token'] },
      );
      await fc.assert(
        fc.asyncProperty(requests, async ({ rawBody, ...request }) => {
          const isGet = operation.method === 'GET';
          const sent = {
            ...request,
            ...(isGet ? { body: undefined } : rawBody !== undefined && { rawBody }),
            token: token(request.token, operation),
          } as Sent;
          const response = await send(operation, sent);
          expectDescribed(operation, response, sent);
          if (operation.body && rawBody === undefined && !validator(operation.body)(sent.body)) {
            if (response.status < 400) throw new Error(`accepted an undocumented body: ${JSON.stringify(sent.body)}`);
          }
        }),
        { numRuns: runsOf(operation) },
      );
    },
  );
});
