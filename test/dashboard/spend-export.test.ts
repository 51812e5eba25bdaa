import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Context } from 'aws-lambda';
import fc from 'fast-check';
import { exportSpend as operation } from '../../lambda/dashboard/spend/operations.ts';
import { exportSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import type { SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { csvField } from '../../lambda/domain/spend/spend-csv.ts';
import type { ReadCounters } from '../../lambda/domain/spend/spend-question.ts';
import { streamingHttpStack } from '../../lambda/http/http-stack.ts';
import { route } from '../../lambda/http/operation.ts';
import { collected } from '../http/collected.ts';
import { apiEvent, membershipOf, silentLogger } from '../http/invoke.ts';

const readCounters = jest.fn<ReadCounters>();
let handler: ReturnType<typeof collected>;

beforeAll(() => {
  handler = collected(
    streamingHttpStack(
      [
        route(
          operation,
          exportSpend({ readCounters, findDeclared: async () => [], now: () => new Date('2026-11-20T16:30:00Z') }),
        ),
      ],
      { logger: silentLogger(), corsOrigins: [], membershipOf },
    ),
  );
});
beforeEach(() => {
  readCounters.mockReset();
});

const get = async (query: Record<string, string[]> = {}) => {
  const caller = { accountId: 'account-1', userId: 'user' };
  const event = apiEvent({ method: 'GET', path: '/api/spend/export.csv', query, caller });
  const { body, ...prelude } = await handler(event, {} as Context);
  return { prelude, body };
};

const counter = (time: string, tag: string | null, counters: SpendCounter['counters']): SpendCounter => ({
  time,
  dimensions: { provider: 'openai', model: 'gpt-4o', tag, keyId: 'k', providerKey: null },
  counters,
});

describe('GET /spend/export.csv', () => {
  it('streams one line per period and group', async () => {
    readCounters.mockImplementation(async function* () {
      yield counter('2026-11-01', 'a,"b"', { requests: 2, costComputedNanoUsd: 1_500_000_000, inputTokens: 7 });
      yield counter('2026-11-01', '=1+1', { requests: 1, unpricedRequests: 1 });
      yield counter('2026-11-02', null, { requests: 1, freeRequests: 1 });
    });
    const { prelude, body } = await get({ groupBy: ['tag', 'key'] });
    expect(prelude).toMatchObject({
      statusCode: 200,
      headers: {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="spend.csv"',
        'X-Request-Id': expect.any(String),
      },
    });
    expect(body.split('\r\n')).toEqual([
      'time,tag,key,requests,cost_usd,unpriced_requests,cost_provider_usd,cost_computed_usd,cost_estimated_usd,free_requests,errors,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,may_also_match_requests,may_also_match_cost_usd,list_cost_usd,list_unpriced_requests',
      '2026-11-01,"a,""b""",k,2,1.5,0,0,1.5,0,0,0,7,0,0,0,0,0,0,1.5,0',
      "2026-11-01,'=1+1,k,1,,1,0,0,0,0,0,0,0,0,0,0,0,0,,1",
      '2026-11-02,,k,1,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0',
      '',
    ]);
  });

  it('has percentiles of latency where they are asked for, of the requests whose duration is known', async () => {
    readCounters.mockImplementation(async function* () {
      yield counter('2026-11-01', 'a', { requests: 4, 'ms.34': 1, 'ms.38': 2 });
      yield counter('2026-11-02', 'a', { requests: 1, unpricedRequests: 1 });
    });
    const { body } = await get({ groupBy: ['tag'], latency: ['true'] });
    const columns = body.split('\r\n').map((line) => line.split(',').slice(-3).join());
    expect(columns).toEqual(['latency_requests,latency_p50_ms,latency_p95_ms', '3,1845,1845', '0,,', '']);
    expect(readCounters).toHaveBeenLastCalledWith(expect.objectContaining({ groupBy: ['tag'], latency: true }));
  });

  it('has what may also match in columns of its own', async () => {
    readCounters.mockImplementation(async function* () {
      yield counter('2026-11-01', 'a', { requests: 2, costComputedNanoUsd: 1_500_000_000 });
      yield counter('2026-11-01', OTHER, { requests: 3, costComputedNanoUsd: 2_000_000_000 });
      yield counter('2026-11-02', OTHER, { requests: 1, unpricedRequests: 1 });
      yield counter('2026-11-03', 'b', { requests: 1 });
    });
    const { body } = await get({ tag: ['a'], groupBy: ['model'] });
    expect(body.split('\r\n').slice(1)).toEqual([
      '2026-11-01,gpt-4o,2,1.5,0,0,1.5,0,0,0,0,0,0,0,0,3,2,1.5,0',
      '2026-11-02,gpt-4o,0,0,0,0,0,0,0,0,0,0,0,0,0,1,,0,0',
      '',
    ]);
    expect(readCounters).toHaveBeenLastCalledWith(expect.objectContaining({ filter: { tag: ['a'] } }));
  });

  it('says of a line that its sums are too large to be exact, and goes on', async () => {
    const large = { requests: 1, costComputedNanoUsd: 9e15, costEstimatedNanoUsd: 9e15 };
    readCounters.mockImplementation(async function* () {
      yield counter('2026-11-01', 'a', large);
      yield counter('2026-11-02', 'a', { requests: 1, costComputedNanoUsd: 1 });
      yield counter('2026-11-02', 'b', { requests: 1, costComputedNanoUsd: 9e15 });
      yield counter('2026-11-02', 'b', { requests: 1, costComputedNanoUsd: 9e15 });
      yield counter('2026-11-03', OTHER, large);
    });
    const { body } = await get({ tag: ['a', 'b'], groupBy: ['tag'] });
    expect(body.split('\r\n').slice(1)).toEqual([
      '2026-11-01,a,,too large to be exact,,,,,,,,,,,,,,,',
      '2026-11-02,b,,too large to be exact,,,,,,,,,,,,,,,',
      '2026-11-02,a,1,0.000000001,0,0,0.000000001,0,0,0,0,0,0,0,0,0,0,0.000000001,0',
      '2026-11-03,(other),,too large to be exact,,,,,,,,,,,,,,,',
      '',
    ]);
  });

  it('responds to an invalid request with the error shape', async () => {
    const { prelude, body } = await get({ groupBy: ['user'] });
    expect(prelude?.statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  });

  it('interrupts the response if reading fails midway, instead of ending it normally', async () => {
    readCounters.mockImplementation(async function* () {
      yield counter('2026-11-01', null, { requests: 1 });
      throw new Error('table gone');
    });
    await expect(get()).rejects.toThrow();
  });
});

describe('csvField', () => {
  it('never starts like a formula, and keeps the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '＠', '"', ',', 'a') }),
        (value) => {
          const written = csvField(value);
          const unquoted = written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
          expect(unquoted).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
          expect(unquoted.replace(/^'/, '')).toBe(value);
        },
      ),
    );
  });
});
