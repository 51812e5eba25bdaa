import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod/mini';
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
import { operation, route } from '../../lambda/http/operation.ts';
import { MAX_BODY_BYTES } from '../../lambda/http/parse-request.ts';
import { accountOf, invoke, silentLogger } from './invoke.ts';

const createThing = operation({
  id: 'createThing',
  method: 'POST',
  path: '/things/{thingId}',
  group: 'Things',
  summary: 'Create a thing',
  access: 'authorizer',
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
const removeThing = operation({
  id: 'removeThing',
  method: 'DELETE',
  path: '/things/{thingId}',
  group: 'Things',
  summary: 'Remove a thing',
  access: 'public',
  success: { status: 204, description: 'gone' },
  errors: [],
});

const create = jest.fn<(input: unknown) => Promise<{ name: string }>>();
const remove = jest.fn<() => Promise<undefined>>();
const logger = silentLogger();
const handler = httpStack([route(createThing, create), route(removeThing, remove)], {
  logger,
  corsOrigins: ['https://app.example'],
  accountOf,
});

const caller = { accountId: 'acc', userId: 'user' };
const good = { method: 'POST', path: '/api/things/a%2Fb', body: { name: 'x' }, caller } as const;

afterEach(() => {
  jest.resetAllMocks();
});

describe('httpStack', () => {
  it('hands the implementation what the schemas made of the request', async () => {
    create.mockResolvedValue({ name: 'x' });
    const answer = await invoke(handler, { ...good, query: { limit: ['7'], tag: ['a', 'b'] } });
    expect(answer).toMatchObject({ status: 201, body: { name: 'x' } });
    expect(create).toHaveBeenCalledWith({
      params: { thingId: 'a/b' },
      query: { limit: 7, tag: ['a', 'b'] },
      body: { name: 'x' },
      caller,
      authorization: undefined,
      requestId: expect.any(String),
    });
  });

  it('takes a path without the base path, and a base64 body', async () => {
    create.mockResolvedValue({ name: 'x' });
    const answer = await invoke(handler, {
      ...good,
      path: '/things/t',
      rawBody: Buffer.from('{"name":"é"}').toString('base64'),
      isBase64Encoded: true,
    });
    expect(answer.status).toBe(201);
    expect(create.mock.calls[0]?.[0]).toMatchObject({ body: { name: 'é' } });
  });

  it('answers an empty body where there is nothing to say', async () => {
    expect(await invoke(handler, { method: 'DELETE', path: '/api/things/t' })).toMatchObject({ status: 204, text: '' });
  });

  it.each([
    ['malformed JSON', { rawBody: '{"name":' }, [{ path: '', message: 'The body is not valid JSON.' }]],
    [
      'half a character',
      { rawBody: '{"name":"\\ud83d"}' },
      [{ path: '', message: 'The body holds text that is not valid Unicode (half of a surrogate pair).' }],
    ],
    ['an empty text', { body: { name: '' } }, [{ path: 'name', message: 'must not be empty' }]],
    ['no body', { rawBody: '' }, [{ path: '', message: 'A JSON body is required.' }]],
    [
      'another media type',
      { headers: { 'content-type': 'text/plain' } },
      [{ path: '', message: 'Send the body as JSON, with Content-Type: application/json.' }],
    ],
    ['a missing member', { body: {} }, [{ path: 'name', message: 'is required' }]],
    [
      'a wrong type below',
      { body: { name: 'x', config: { threshold: '5' } } },
      [{ path: 'config.threshold', message: 'must be a number' }],
    ],
    ['a member nobody knows', { body: { name: 'x', nme: 1 } }, [{ path: 'nme', message: 'is not known here' }]],
    ['null', { rawBody: 'null' }, [{ path: '', message: 'must be an object' }]],
    ['a wrong parameter', { query: { limit: ['11'] } }, [{ path: 'limit', message: 'must be at most 10' }]],
    ['a parameter twice', { query: { limit: ['1', '2'] } }, [{ path: 'limit', message: 'may be given only once' }]],
    ['an unknown parameter', { query: { x: ['1'] } }, [{ path: 'x', message: 'is not known here' }]],
  ])('refuses %s with VALIDATION_ERROR and where it is', async (_, change, details) => {
    const answer = await invoke(handler, { ...good, ...change });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', type: 'gateway_error', details } });
    expect(create).not.toHaveBeenCalled();
  });

  it('refuses a body past the limit', async () => {
    const answer = await invoke(handler, { ...good, body: { name: 'x'.repeat(MAX_BODY_BYTES) } });
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
  });

  it('refuses claims that name no account', async () => {
    const answer = await invoke(handler, { ...good, caller: undefined });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
  });

  it('has no such endpoint', async () => {
    expect(await invoke(handler, { method: 'GET', path: '/api/things/t' })).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
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
    const answer = await invoke(handler, good);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: error.message, requestId: answer.requestId } },
    });
    expect(answer.headers['Retry-After'] !== undefined).toBe(status === 429 || status === 503);
  });

  it('keeps the words of an error it does not know to itself and the log', async () => {
    create.mockRejectedValue(new Error('table svc_secret exploded'));
    const answer = await invoke(handler, good);
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'INTERNAL' } } });
    expect(answer.text).not.toContain('exploded');
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it('calls an error that the SDK would retry temporary', async () => {
    create.mockRejectedValue(Object.assign(new Error('slow down'), { $retryable: { throttling: true } }));
    expect(await invoke(handler, good)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
  });

  it('never lets out what the response schema does not list', async () => {
    create.mockResolvedValue({ name: 'x', secret: 's' } as { name: string });
    expect((await invoke(handler, good)).body).toEqual({ name: 'x' });
    create.mockResolvedValue({} as { name: string });
    expect((await invoke(handler, good)).status).toBe(500);
  });

  it('gives every answer security headers and the request id; browsers of configured origins may read it', async () => {
    const answer = await invoke(handler, { ...good, rawBody: '', headers: { Origin: 'https://app.example' } });
    expect(answer.headers).toMatchObject({
      'Access-Control-Allow-Origin': 'https://app.example',
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': expect.any(String),
      Vary: 'Origin',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': answer.requestId,
    });
    const other = await invoke(handler, { ...good, headers: { origin: 'https://evil.example' } });
    expect(other.headers['Access-Control-Allow-Origin']).toBeUndefined();
  });

  it('logs neither body, query, header nor account key', async () => {
    create.mockResolvedValue({ name: 'x' });
    await invoke(handler, {
      ...good,
      path: '/api/things/svc_secret',
      caller: { accountId: 'svc_secret', userId: 'user' },
      body: { name: 'private' },
      query: { tag: ['hidden'] },
      headers: { Authorization: 'Bearer token' },
    });
    const lines = JSON.stringify(logger.info.mock.calls);
    expect(lines).toContain('"userId":"user"');
    expect(lines).not.toMatch(/svc_secret|private|hidden|token/);
  });

  it('answers every JSON body with 201 or one clear 400, never 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        create.mockResolvedValue({ name: 'x' });
        const answer = await invoke(handler, { ...good, rawBody: JSON.stringify(value) });
        expect([201, 400]).toContain(answer.status);
        if (answer.status === 400) expect(errorBodySchema.parse(answer.body).error.details).not.toHaveLength(0);
      }),
    );
  });
});
