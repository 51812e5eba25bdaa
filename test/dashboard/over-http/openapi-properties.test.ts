import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { groups, operations } from '../../../lambda/dashboard/operations.ts';
import { openApiDocument } from '../../../lambda/http/openapi.ts';
import { mutated, type Schema, schemaArbitrary } from './schema-arbitrary.ts';
import {
  type Answer,
  callApi,
  registerAccount,
  type Session,
  sendChat,
  startTestStack,
  type TestStack,
} from './stack.ts';

/** What the document says; the stack serves the same (checked below). */
const document = JSON.parse(JSON.stringify(openApiDocument(operations, groups)));
const ajv = new Ajv2020({ strict: false, allErrors: false });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, part) => node[part], document);
const deref = <T>(node: T): T => {
  const { $ref } = node as { $ref?: string };
  return $ref === undefined ? node : resolve($ref);
};

/** A validator of a schema that stands somewhere in the document. */
const validators = new Map<string, ReturnType<typeof ajv.compile>>();
const validator = (schema: Schema) => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  const known = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, known);
  return known;
};

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Schema;
}
interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly responses: Record<string, { content?: Record<string, { schema: Schema; examples?: object }> }>;
}

const described: Described[] = Object.entries(
  document.paths as Record<string, Record<string, Record<string, unknown>>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: operation['operationId'] as string,
    method: method.toUpperCase(),
    path,
    isOpen: (operation['security'] as unknown[]).length === 0,
    parameters: (operation['parameters'] ?? []) as Parameter[],
    body: (operation['requestBody'] as { content: Record<string, { schema: Schema }> } | undefined)?.content[
      'application/json'
    ]?.schema,
    responses: operation['responses'] as Described['responses'],
  })),
);

let running: TestStack;
let url: string;
let session: Session;
let realIds: string[];

beforeAll(async () => {
  running = await startTestStack();
  url = running.stack.url;
  session = await registerAccount(url);
  const api = callApi(url);
  const rule = { type: 'cost_threshold', name: 'n', config: { threshold: 0.0001, period: 'daily' } };
  realIds = [
    await sendChat(url, session.accountId, 'tag'),
    (await api('POST', '/alert-rules', { token: session.token, body: rule })).body.id,
    (await api('GET', '/keys', { token: session.token })).body.items[0].id,
  ];
});
afterAll(() => running.stop());

/** The answer is one that the document describes, and no 5xx. */
const expectDescribed = ({ name, responses }: Described, { status, headers, body, text }: Answer, sent: unknown) => {
  const context = () => `${name} answered ${status} ${text.slice(0, 500)} to ${JSON.stringify(sent)}`;
  if (status >= 500) throw new Error(context());
  const response = responses[status];
  if (response === undefined) throw new Error(`undocumented: ${context()}`);
  const content = deref(response).content;
  const mediaType = headers.get('content-type')?.split(';')[0];
  if (content === undefined) {
    if (text !== '') throw new Error(`a body where none is documented: ${context()}`);
    return;
  }
  const media = content[mediaType ?? ''];
  if (media === undefined) throw new Error(`undocumented content type ${mediaType}: ${context()}`);
  if (mediaType === 'application/json') {
    const validate = validator(media.schema);
    if (!validate(body)) throw new Error(`${ajv.errorsText(validate.errors)}: ${context()}`);
  }
  if (media.examples && !(body.error.code in media.examples)) throw new Error(`undocumented code: ${context()}`);
};

interface Sent {
  readonly ids: Record<string, string>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: unknown;
  readonly rawBody?: string;
  readonly token: string | undefined;
  readonly headers?: Record<string, string>;
}

const send = ({ method, path }: Described, { ids, query, body, rawBody, token, headers }: Sent): Promise<Answer> =>
  callApi(url)(
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

const schemaOf = (schema: Schema) => schemaArbitrary(schema, resolve);

const idsOf = ({ parameters }: Described): fc.Arbitrary<Record<string, string>> =>
  fc.record(
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => [
          name,
          fc.oneof(
            fc.nat(2).map((index) => realIds[index] ?? ''),
            fc.uuid(),
            // An empty segment, or dots, would be another path.
            fc.string({ minLength: 1, maxLength: 80 }).filter((id) => !/^\.{1,2}$/.test(id)),
          ),
        ]),
    ),
  );

const asPairs = (name: string, value: unknown): (readonly [string, string])[] =>
  Array.isArray(value) ? value.map((each) => [name, String(each)] as const) : [[name, String(value)]];

const validQuery = ({ parameters }: Described) =>
  fc
    .record(
      Object.fromEntries(
        parameters.filter((parameter) => parameter.in === 'query').map(({ name, schema }) => [name, schemaOf(schema)]),
      ),
      { requiredKeys: [] },
    )
    .map((query) => Object.entries(query).flatMap(([name, value]) => asPairs(name, value)));

const wrongQuery = ({ parameters }: Described) =>
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

const tokens = ({ isOpen }: Described) =>
  isOpen
    ? fc.constant(undefined)
    : fc.oneof(
        { weight: 9, arbitrary: fc.constant('mine') },
        { weight: 1, arbitrary: fc.constantFrom(undefined, 'nonsense', 'a.b.c', 'é') },
      );

/** A refused log-in or reset takes its time, on purpose. */
const runsOf = ({ path }: Described) => (path.startsWith('/auth/') ? 6 : 20);

const token = (which: string | undefined) => (which === 'mine' ? session.token : which);

describe('the API and its document', () => {
  it('are of one mind: the stack serves this very document', async () => {
    expect((await callApi(url)('GET', '/openapi.json')).body).toEqual(document);
  });

  it.each(described.map((operation) => [operation.name, operation] as const))(
    '%s answers what is described to requests as described',
    async (_, operation) => {
      const requests = fc.record({
        ids: idsOf(operation),
        query: validQuery(operation),
        body: operation.body ? schemaOf(operation.body) : fc.constant(undefined),
        token: tokens(operation),
      });
      await fc.assert(
        fc.asyncProperty(requests, async (sent) => {
          expectDescribed(operation, await send(operation, { ...sent, token: token(sent.token) }), sent);
        }),
        { numRuns: runsOf(operation) },
      );
    },
  );

  it.each(described.map((operation) => [operation.name, operation] as const))(
    '%s answers what is described to requests that are not, and refuses their bodies',
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
            token: token(request.token),
          } as Sent;
          const answer = await send(operation, sent);
          expectDescribed(operation, answer, sent);
          if (operation.body && rawBody === undefined && !validator(operation.body)(sent.body)) {
            if (answer.status < 400) throw new Error(`accepted what is not described: ${JSON.stringify(sent.body)}`);
          }
        }),
        { numRuns: runsOf(operation) },
      );
    },
  );
});
