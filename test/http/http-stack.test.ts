import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { refusal } from '../../fixtures/intercept-table.ts';
import {
  ConflictError,
  EmailTakenError,
  ForbiddenError,
  InvalidCredentialsError,
  LimitReachedError,
  NotFoundError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
} from '../../lambda/domain/errors.ts';
import { errorBodySchema } from '../../lambda/http/error-codes.ts';
import { httpStack } from '../../lambda/http/http-stack.ts';
import { inGroup, route } from '../../lambda/http/operation.ts';
import { MAX_BODY_BYTES } from '../../lambda/http/parse-request.ts';
import errorResponses from '../../lib/constructs/error-responses.json' with { type: 'json' };
import { invalidAt, invoke, membershipOf, refusedWith, silentLogger } from './invoke.ts';

const operation = inGroup('Things');

const createThing = operation('createThing', 'POST /things/{thingId}', {
  audits: 'A test.',
  summary: 'Create a thing',
  access: 'authorizer',
  permission: 'spend:read',
  params: z.strictObject({ thingId: z.string().check(z.maxLength(20)) }),
  query: z.strictObject({
    limit: z._default(z.coerce.number().check(z.int(), z.maximum(10)), 5),
    tag: z._default(z.array(z.string()), []),
  }),
  body: z.strictObject({
    name: z.string().check(z.minLength(1)),
    config: z.optional(z.strictObject({ threshold: z.number() })),
  }),
  success: { status: 201, description: 'made', schema: z.object({ name: z.string() }) },
  errors: [],
});
const removeThing = operation('removeThing', 'DELETE /things/{thingId}', {
  audits: 'A test.',
  summary: 'Remove a thing',
  access: 'public',
  success: { status: 204, description: 'gone' },
  errors: [],
});

const readThing = operation('readThing', 'GET /things/{thingId}', {
  summary: 'Read a thing',
  access: 'public',
  success: { status: 200, description: 'it', schema: z.object({ name: z.string() }) },
  errors: [],
});

const create = jest.fn<(input: unknown) => Promise<{ name: string }>>();
const read = jest.fn<() => Promise<{ name: string }>>();
const remove = jest.fn<() => Promise<undefined>>();
const logger = silentLogger();
const handler = httpStack([route(createThing, create), route(readThing, read), route(removeThing, remove)], {
  logger,
  corsOrigins: ['https://app.example'],
  membershipOf,
});

const caller = {
  accountId: 'acc',
  userId: 'user',
  role: 'owner',
  name: 'ada@example.com',
  authTime: expect.any(Number),
} as const;
const good = { method: 'POST', path: '/api/things/a%2Fb', body: { name: 'x' }, caller } as const;

afterEach(() => {
  jest.resetAllMocks();
});

describe('httpStack', () => {
  it('passes the parsed request to the implementation', async () => {
    create.mockResolvedValue({ name: 'x' });
    const headers = { Host: 'spend.acme.dev' };
    const response = await invoke(handler, { ...good, headers, query: { limit: ['7'], tag: ['a', 'b'] } });
    expect(response).toMatchObject({ status: 201, body: { name: 'x' } });
    expect(response.headers).not.toHaveProperty('ETag');
    expect(create).toHaveBeenCalledWith({
      params: { thingId: 'a/b' },
      query: { limit: 7, tag: ['a', 'b'] },
      body: { name: 'x' },
      caller,
      authorization: undefined,
      clientAddress: '192.0.2.1',
      origin: 'https://spend.acme.dev',
      requestId: expect.any(String),
    });
  });

  it('spares the body of what the client has already, and no other', async () => {
    read.mockResolvedValueOnce({ name: 'x' }).mockResolvedValueOnce({ name: 'x' }).mockResolvedValue({ name: 'y' });
    const get = (headers: Record<string, string> = {}) =>
      invoke(handler, { method: 'GET', path: '/api/things/t', headers: { Origin: 'https://app.example', ...headers } });
    const first = await get();
    const tag = first.headers['ETag'] as string;
    expect(first.headers['Access-Control-Expose-Headers']).toContain('ETag');
    const same = await get({ 'If-None-Match': tag });
    expect([same.status, same.text, same.headers['ETag']]).toEqual([304, '', tag]);
    expect(same.headers['Access-Control-Allow-Origin']).toBe('https://app.example');
    const changed = await get({ 'If-None-Match': tag });
    expect([changed.status, changed.body]).toEqual([200, { name: 'y' }]);
    expect(changed.headers['ETag']).not.toBe(tag);
    expect(await get()).toMatchObject({ status: 200, body: { name: 'y' } });
  });

  it('refuses a change that only holds for one version, since it compares none', async () => {
    const headers = { 'If-Match': 'W/"1"' };
    expect(await invoke(handler, { ...good, headers })).toMatchObject(invalidAt('If-Match', /409 CONFLICT/));
    const removal = { method: 'DELETE', path: '/api/things/t', headers };
    expect(await invoke(handler, removal)).toMatchObject(invalidAt('If-Match', /^is not compared/));
    expect([create.mock.calls, remove.mock.calls]).toEqual([[], []]);
  });

  it('says how to sign in where API Gateway does, in the same words', async () => {
    const { body } = await invoke(handler, { ...good, caller: undefined });
    const { message } = errorResponses.find(({ type }) => type === 'UNAUTHORIZED') as { message: string };
    expect(body.error.message).toBe(message);
    expect(message).toMatch(/POST \/auth\/login, .*API token.*POST \/auth\/token.*\/machine/);
  });

  it('reads a membership again before it refuses a read, and for every change', async () => {
    const asked: (boolean | undefined)[] = [];
    const readSpend = { ...readThing, access: 'authorizer', permission: 'spend:read-all' } as const;
    const changing = httpStack([route(readSpend, read), route(createThing, create)], {
      ...{ logger, corsOrigins: [] },
      membershipOf: async (_, isFresh) => {
        asked.push(isFresh);
        return { ...caller, keyIds: undefined, role: isFresh ? 'owner' : 'developer' };
      },
    });
    read.mockResolvedValue({ name: 'x' });
    create.mockResolvedValue({ name: 'x' });
    expect((await invoke(changing, { method: 'GET', path: '/api/things/t', caller })).status).toBe(200);
    expect(asked).toEqual([false, true]);
    expect((await invoke(changing, good)).status).toBe(201);
    expect(asked).toEqual([false, true, true]);
  });

  it('accepts a path without the base path, and a base64 body', async () => {
    create.mockResolvedValue({ name: 'x' });
    const response = await invoke(handler, {
      ...good,
      path: '/things/t',
      rawBody: Buffer.from('{"name":"é"}').toString('base64'),
      isBase64Encoded: true,
    });
    expect(response.status).toBe(201);
    expect(create.mock.calls[0]?.[0]).toMatchObject({ body: { name: 'é' } });
  });

  it('takes brackets in a text for text', async () => {
    const name = `"${'['.repeat(80)}\\`;
    create.mockResolvedValue({ name });
    expect(await invoke(handler, { ...good, body: { name } })).toMatchObject({ status: 201, body: { name } });
  });

  it('responds with an empty body if the operation has no output', async () => {
    expect(await invoke(handler, { method: 'DELETE', path: '/api/things/t' })).toMatchObject({ status: 204, text: '' });
  });

  it.each([
    [
      'JSON that is nested too deeply',
      { rawBody: '['.repeat(20_000) },
      [{ path: '', message: 'The body is nested too deeply: at most 64 levels.' }],
    ],
    [
      'well-formed JSON that is nested too deeply',
      { rawBody: `{"name":"x","config":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}` },
      [{ path: '', message: 'The body is nested too deeply: at most 64 levels.' }],
    ],
    [
      'the name __proto__',
      { rawBody: '{"name":"x","config":{"threshold":1,"__proto__":{"threshold":2}}}' },
      [{ path: 'config.__proto__', message: 'is unknown' }],
    ],
    [
      'the name __proto__ with escapes, in a list',
      { rawBody: '{"name":["{[",{"\\u005f_proto__":1}]}' },
      [{ path: 'name.1.__proto__', message: 'is unknown' }],
    ],
    ['malformed JSON', { rawBody: '{"name":' }, [{ path: '', message: 'The body is not valid JSON.' }]],
    [
      'a lone surrogate',
      { rawBody: '{"name":"\\ud83d"}' },
      [{ path: '', message: 'The body contains text that is not valid Unicode (a lone surrogate).' }],
    ],
    ['an empty text', { body: { name: '' } }, [{ path: 'name', message: 'must not be empty' }]],
    ['no body', { rawBody: '' }, [{ path: '', message: 'A JSON body is required.' }]],
    [
      'another media type',
      { headers: { 'content-type': 'text/plain' } },
      [{ path: '', message: 'Send the body as JSON with Content-Type: application/json.' }],
    ],
    ['a missing member', { body: {} }, [{ path: 'name', message: 'is required' }]],
    [
      'a wrong type below',
      { body: { name: 'x', config: { threshold: '5' } } },
      [{ path: 'config.threshold', message: 'must be a number' }],
    ],
    ['an unknown member', { body: { name: 'x', nme: 1 } }, [{ path: 'nme', message: 'is unknown' }]],
    ['null', { rawBody: 'null' }, [{ path: '', message: 'must be an object' }]],
    ['a wrong parameter', { query: { limit: ['11'] } }, [{ path: 'limit', message: 'must be at most 10' }]],
    ['a parameter twice', { query: { limit: ['1', '2'] } }, [{ path: 'limit', message: 'must be sent only once' }]],
    ['an unknown parameter', { query: { x: ['1'] } }, [{ path: 'x', message: 'is unknown' }]],
  ])('rejects %s with VALIDATION_ERROR and its location', async (_, change, details) => {
    const response = await invoke(handler, { ...good, ...change });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', type: 'gateway_error', details } });
    expect(create).not.toHaveBeenCalled();
  });

  it('rejects a body above the limit', async () => {
    const response = await invoke(handler, { ...good, body: { name: 'x'.repeat(MAX_BODY_BYTES) } });
    expect(response).toMatchObject(refusedWith(413, 'PAYLOAD_TOO_LARGE'));
    create.mockResolvedValue({ name: 'x' });
    const longest = 'x'.repeat(MAX_BODY_BYTES - JSON.stringify({ name: '' }).length);
    expect((await invoke(handler, { ...good, body: { name: longest } })).status).toBe(201);
  });

  it('rejects claims without a user', async () => {
    const response = await invoke(handler, { ...good, caller: undefined });
    expect(response).toMatchObject(refusedWith(401, 'UNAUTHORIZED'));
  });

  it('responds with 404 to an unknown endpoint', async () => {
    expect(await invoke(handler, { method: 'GET', path: '/api/things' })).toMatchObject(refusedWith(404, 'NOT_FOUND'));
  });

  it.each([
    ['INVALID_CREDENTIALS', 401, new InvalidCredentialsError()],
    ['UNAUTHORIZED', 401, new UnauthenticatedError('m')],
    ['FORBIDDEN', 403, new ForbiddenError('m')],
    ['NOT_FOUND', 404, new NotFoundError('m')],
    ['EMAIL_TAKEN', 409, new EmailTakenError('m')],
    ['CONFLICT', 409, new ConflictError('m')],
    ['LIMIT_REACHED', 409, new LimitReachedError('m')],
    ['RATE_LIMITED', 429, new RateLimitedError('m')],
    ['UNAVAILABLE', 503, new UnavailableError('m')],
  ])('gives %s the status %i', async (code, status, error) => {
    create.mockRejectedValue(error);
    const response = await invoke(handler, good);
    expect(response).toMatchObject({
      status,
      body: { error: { code, message: error.message, requestId: response.requestId } },
    });
    expect(response.headers['Retry-After'] !== undefined).toBe(status === 429 || status === 503);
  });

  it('logs an unknown error and does not reveal its message', async () => {
    create.mockRejectedValue(new Error('table svc_secret exploded'));
    const response = await invoke(handler, good);
    expect(response).toMatchObject(refusedWith(500, 'INTERNAL'));
    expect(response.text).not.toContain('exploded');
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['that the SDK marks as retryable', Object.assign(new Error('slow down'), { $retryable: { throttling: true } })],
    ['of a table that is too busy', refusal('ProvisionedThroughputExceededException')],
    ['of a table that fails', Object.assign(refusal('InternalServerError'), { $metadata: { httpStatusCode: 500 } })],
    ['of a table that does not respond', Object.assign(new Error('no response'), { name: 'TimeoutError' })],
  ])('reports an error %s as temporary', async (_, error) => {
    create.mockRejectedValue(error);
    expect(await invoke(handler, good)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
  });

  it('drops members outside the response schema', async () => {
    create.mockResolvedValue({ name: 'x', secret: 's' } as { name: string });
    expect((await invoke(handler, good)).body).toEqual({ name: 'x' });
    create.mockResolvedValue({} as { name: string });
    expect((await invoke(handler, good)).status).toBe(500);
  });

  it('adds security headers, the request id and CORS headers to every response', async () => {
    const response = await invoke(handler, { ...good, rawBody: '', headers: { Origin: 'https://app.example' } });
    expect(response.headers).toMatchObject({
      'Access-Control-Allow-Origin': 'https://app.example',
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': expect.any(String),
      Vary: 'Origin',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': response.requestId,
    });
    const other = await invoke(handler, { ...good, headers: { origin: 'https://evil.example' } });
    expect(other.headers['Access-Control-Allow-Origin']).toBeUndefined();
  });

  it('logs no body, query, header or service key', async () => {
    create.mockResolvedValue({ name: 'x' });
    for (const id of ['svc_secret', 'sat_secret'])
      await invoke(handler, {
        ...good,
        path: `/api/things/${id}`,
        caller: { accountId: 'svc_secret', userId: 'user' },
        body: { name: 'private' },
        query: { tag: ['hidden'] },
        headers: { Authorization: 'Bearer token' },
      });
    const lines = JSON.stringify(logger.info.mock.calls);
    expect(lines).toContain('"userId":"user"');
    expect(lines).not.toMatch(/(svc|sat)_secret|private|hidden|token/);
  });

  it('responds to every JSON body with 201 or 400, never 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        create.mockResolvedValue({ name: 'x' });
        const response = await invoke(handler, { ...good, rawBody: JSON.stringify(value) });
        expect([201, 400]).toContain(response.status);
        if (response.status === 400) expect(errorBodySchema.parse(response.body).error.details).not.toHaveLength(0);
      }),
    );
  });
});
