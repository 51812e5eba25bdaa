import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { accountKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { plans } from '../../lambda/domain/billing/plans.ts';
import type { Counters } from '../../lambda/domain/spend/counters.ts';
import { MAX_EVENT_AGE_DAYS } from '../../lambda/domain/usage/limits.ts';
import type { CloseEvent, RequestEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { deleteExpired } from '../data/delete-expired.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';
import { ledgerSums, spendCounterText } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-21T09:00:00Z');
const silent = { error: () => {} };

const table = tableForTests();

/** A recorder with its own cache, as each Lambda instance has. */
const newRecorder = (of: Table = table, now = NOW) =>
  openRecorder(of, { logger: silent, price: priceOfTokens, now: () => now });

let accounts = 0;
const newAccountId = () => `svc_${++accounts}`;

const DAY_MS = 86_400_000;

const setPlan = (accountId: string, plan: string) =>
  table.call('PutItem', { TableName: table.name, Item: { ...accountKey(accountId), plan } });

/** The bucket of a duration: each ends at 11/9 of the one before, and the last has an hour and more. */
const bucketOf = (ms: number): number => {
  let bucket = 1;
  while ((11 / 9) ** bucket < ms && bucket < 76) bucket++;
  return bucket;
};

/** The expected sums of the ledger, counted in the simplest way. */
const expectedSums = (ends: readonly (RequestEvent & { accountId: string })[]) => {
  const days: Record<string, Record<string, number>> = {};
  const hours: Record<string, Record<string, number>> = {};
  const months: Record<string, number> = {};
  for (const event of ends) {
    const close = event.kind === 'close' ? event : undefined;
    const tokens = close?.reading.usage?.['tokens'] as number | undefined;
    const model = close ? (close.reading.modelServed ?? close.reading.modelRequested) : null;
    const failed = close && ((close.status ?? 0) >= 400 || ['upstream_aborted', 'unreachable'].includes(close.outcome));
    const counts: Record<string, number> = {
      requests: 1,
      costComputedNanoUsd: 7 * (tokens ?? 0),
      inputTokens: tokens ?? 0,
      'milliUnits.audioSeconds': Math.round((tokens ?? 0) * 125),
      unpricedRequests: tokens === undefined ? 1 : 0,
      unfinishedRequests: close ? 0 : 1,
      errors: failed ? 1 : 0,
      bypassedRequests: close?.route === 'bypassed' ? 1 : 0,
      confirmedLateRequests: close?.isConfirmedLate ? 1 : 0,
      ...(close && close.outcome !== 'refused' && { [`ms.${bucketOf(close.totalMs)}`]: 1 }),
    };
    for (const [spendCounters, time] of [
      [days, event.startedAt.slice(0, 10)],
      [hours, event.startedAt.slice(0, 13)],
    ] as const) {
      const text = spendCounterText(time, { ...event, model });
      const spendCounter = spendCounters[text] ?? {};
      spendCounters[text] = spendCounter;
      for (const [name, count] of Object.entries(counts))
        if (count !== 0) spendCounter[name] = (spendCounter[name] ?? 0) + count;
    }
    const month = event.startedAt.slice(0, 7);
    months[month] = (months[month] ?? 0) + 1;
  }
  return { days: days as Record<string, Counters>, hours: hours as Record<string, Counters>, months };
};

const someRequest = fc.record({
  startedAt: fc
    .constantFrom('11-21T08:59:59.999', '11-21T08:00:00.000', '11-20T23:59:59.999', '10-31T23:00:00.000')
    .map((time) => `2026-${time}Z`),
  account: fc.nat(2),
  tag: fc.constantFrom(null, '', 'a#b', '%23', 'überall', 'a\ud800'),
  provider: fc.constantFrom('openai' as const, 'anthropic' as const),
  tokens: fc.nat(1_000_000),
  outcome: fc.constantFrom(...(['completed', 'client_aborted', 'upstream_aborted', 'refused'] as const)),
  totalMs: fc.constantFrom(0, 0.4, 1, 1.3, 900, 901.5, 61_000, 3_599_999, 1e9),
  status: fc.constantFrom(200, 429),
  route: fc.constantFrom(
    { route: 'governed' as const },
    { route: 'bypassed' as const },
    { route: 'bypassed' as const, isConfirmedLate: true as const },
  ),
  modelServed: fc.constantFrom('gpt-4o-2024-08-06', null, 'm#%'),
  seen: fc.constantFrom('open', 'close', 'both' as const),
  copies: fc.integer({ min: 1, max: 3 }),
});

describe('openRecorder', () => {
  it('counts each request once, with repeated, reordered and split batches, and concurrent recorders', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someRequest, { minLength: 1, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        async (requests, random, batchSize, workers) => {
          const accountIds = [newAccountId(), newAccountId(), newAccountId()];
          const events: RequestEvent[] = [];
          const ends = requests.map(({ account, seen, copies, modelServed, tokens, ...facts }, n) => {
            const accountId = accountIds[account] as string;
            const { startedAt, tag, provider, totalMs, status, outcome, route } = facts;
            const shared = { n, accountId, startedAt, tag, provider };
            const open = openEvent(shared);
            const end = { tokens, totalMs, status, ...route, outcome, reading: { modelServed } };
            const close = closeEvent({ ...shared, ...end });
            for (let copy = 0; copy < copies; copy++) {
              if (seen !== 'close') events.push(open);
              if (seen !== 'open') events.push(close);
            }
            return { ...(seen === 'open' ? open : close), accountId, tag: tag?.toWellFormed() ?? null };
          });
          const shuffled = events
            .map((event) => ({ event, order: random.next().value as number }))
            .sort((a, b) => a.order - b.order)
            .map(({ event }) => event);
          const batches = Array.from({ length: Math.ceil(shuffled.length / batchSize) }, (_, i) =>
            shuffled.slice(i * batchSize, (i + 1) * batchSize),
          );

          await Promise.all(
            Array.from({ length: workers }, async (_, worker) => {
              const record = newRecorder();
              for (let i = worker; i < batches.length; i += workers) {
                const batch = batches[i] as RequestEvent[];
                let results = await record(batch);
                // The queue would deliver the batch again.
                for (let again = 0; again < 5 && results.some(({ kind }) => kind === 'failed'); again++)
                  results = await record(batch);
                expect(results.filter(({ kind }) => kind === 'failed')).toEqual([]);
              }
            }),
          );

          for (const accountId of accountIds) {
            const expected = expectedSums(ends.filter((end) => end.accountId === accountId));
            const sums = await ledgerSums(table, accountId, Object.keys(expected.months));
            expect(sums).toEqual(expected);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('records a close event with all its members', async () => {
    const accountId = newAccountId();
    const event = closeEvent({ accountId, tag: 'batch', tokens: 11 });
    const [result] = await newRecorder()([event]);
    expect(result?.kind).toBe('recorded');
    const { kind: _, version: __, ...facts } = event;
    expect(await openRequests(table, () => NOW).find(accountId, event.requestId)).toEqual({
      ...facts,
      durationBucket: 15,
      revision: 1,
      readingTruncated: false,
      usage: expect.objectContaining({ inputTokens: 11, outputTokens: 0, units: { audioSeconds: 1.375 } }),
      costNanoUsd: 77,
      provenance: 'computed',
      priceSource: 'test',
      priceVersion: 'test',
      lines: [{ kind: 'input', quantity: 11, rateNanoUsdPerUnit: 7 }],
      reason: null,
      repeatOf: null,
      metadata: {},
      metadataTruncated: false,
      client: null,
      session: null,
      blockedBy: null,
      blocksUnread: false,
      overflowLevel: 0,
      allocations: { client: { value: null, level: 0, kept: [] } },
      countedFor: [],
      recordedAt: '2026-11-21T09:00:00.000Z',
      // An unknown account keeps records as long as the FREE plan does.
      expiresAt: Date.parse('2026-12-21T00:00:00Z') / 1_000,
    });
  });

  it.each([
    ['FREE', 30],
    ['STARTER', 90],
    ['PRO', 400],
    ['SCALE', 400],
  ])('keeps the records of %s for %d days after theirs', async (plan, days) => {
    const accountId = newAccountId();
    await setPlan(accountId, plan);
    const [result] = await newRecorder()([closeEvent({ accountId, startedAt: '2026-11-20T12:00:00.999Z' })]);
    expect(result).toMatchObject({
      record: { expiresAt: Date.parse('2026-11-21T00:00:00Z') / 1_000 + days * 86_400 },
    });
  });

  it('completes an unfinished request when its close event comes, and only once', async () => {
    const accountId = newAccountId();
    const record = newRecorder();
    await record([openEvent({ accountId })]);
    expect((await ledgerSums(table, accountId, ['2026-11'])).days).toEqual({
      [spendCounterText('2026-11-20', { ...openEvent(), model: null })]: {
        requests: 1,
        unpricedRequests: 1,
        unfinishedRequests: 1,
      },
    });
    const results = await Promise.all(
      Array.from({ length: 5 }, () => newRecorder()([closeEvent({ accountId, tokens: 3 })])),
    );
    expect(results.flat().filter(({ kind }) => kind === 'recorded')).toHaveLength(1);
    const late = closeEvent({ accountId, tokens: 4_000 });
    const again = await record([late, openEvent({ accountId })]);
    expect(again.map(({ kind }) => kind)).toEqual(['known', 'known']);
    expect(await ledgerSums(table, accountId, ['2026-11'])).toEqual(
      expectedSums([closeEvent({ accountId, tokens: 3 }) as CloseEvent & { accountId: string }]),
    );
    const stored = await openRequests(table, () => NOW).find(accountId, late.requestId);
    expect(stored).toMatchObject({ outcome: 'completed', costNanoUsd: 21, revision: 2 });
  });

  it('never counts an implausible cost, and says so in the reason', async () => {
    const accountId = newAccountId();
    const events = [9.1e13, Number.MAX_SAFE_INTEGER, 1e300].map((tokens, n) => closeEvent({ accountId, n, tokens }));
    await newRecorder()(events);
    const { days } = await ledgerSums(table, accountId, []);
    expect(Object.values(days)).toEqual([{ requests: 3, unpricedRequests: 3, 'ms.15': 3 }]);
    const { items } = await openRequests(table, () => NOW).page(accountId, {
      from: '2026-11-20T00:00:00Z',
      to: '2026-11-21T00:00:00Z',
      limit: 1,
    });
    expect(items[0]).toMatchObject({ costNanoUsd: null, provenance: 'unknown', usage: null });
    expect(items[0]?.reason).toMatch(/cannot be true/);
  });

  it('adds up a hundred of the highest plausible costs exactly', async () => {
    const accountId = newAccountId();
    const tokens = 1e13 + 1;
    const price = (event: Parameters<typeof priceOfTokens>[0]) => {
      const priced = priceOfTokens(event);
      return { ...priced, usage: priced.usage && { ...priced.usage, units: {} } };
    };
    const record = openRecorder(table, { logger: silent, price, now: () => NOW });
    const results = await record(Array.from({ length: 100 }, (_, n) => closeEvent({ accountId, n, tokens })));
    expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    const { days } = await ledgerSums(table, accountId, []);
    expect(Object.values(days)).toEqual([
      { requests: 100, inputTokens: 100 * tokens, costComputedNanoUsd: 700 * tokens, 'ms.15': 100 },
    ]);
  });

  it.each(['FREE', 'PRO'])(
    'on %s does not count an event of more than 29 days: it may have been counted',
    async (plan) => {
      const accountId = newAccountId();
      await setPlan(accountId, plan);
      const events = [29 * DAY_MS, 29 * DAY_MS - 1].map((ageMs, n) =>
        closeEvent({ accountId, n, startedAt: new Date(NOW - ageMs).toISOString() }),
      );
      expect((await newRecorder()(events)).map(({ kind }) => kind)).toEqual(['expired', 'recorded']);
      expect((await ledgerSums(table, accountId, ['2026-10'])).months).toEqual({ '2026-10': 1 });
    },
  );

  it('accepts no event that is older than any plan keeps records', () => {
    for (const { requestRetentionDays } of Object.values(plans))
      expect(requestRetentionDays).toBeGreaterThan(MAX_EVENT_AGE_DAYS);
  });

  it('counts a request once whose event comes again after its record expired and the plan was upgraded', async () => {
    const accountId = newAccountId();
    await setPlan(accountId, 'FREE');
    const event = closeEvent({ accountId });
    await newRecorder()([event]);
    const before = await ledgerSums(table, accountId, ['2026-11']);
    await setPlan(accountId, 'PRO');
    for (const days of [28, 30, 31, 45, 100]) {
      await deleteExpired(table, accountId, NOW + days * DAY_MS);
      const [result] = await newRecorder(table, NOW + days * DAY_MS)([event]);
      expect([days, result?.kind]).toEqual([days, days < 29 ? 'known' : 'expired']);
      const { months, days: sums } = await ledgerSums(table, accountId, ['2026-11']);
      expect({ months, sums }).toEqual({ months: before.months, sums: before.days });
    }
  });

  it('counts the results of a batch once, however long after they are fetched again', async () => {
    const accountId = newAccountId();
    const fetched = (n: number, at: number) =>
      closeEvent({
        accountId,
        n,
        method: 'GET',
        path: '/v1/files/file-1/content',
        startedAt: new Date(at).toISOString(),
        reading: { dialect: 'openai-batch-output' },
      });
    for (const [n, days] of [0, 61, 500].entries()) {
      const now = NOW + days * DAY_MS;
      await deleteExpired(table, accountId, now);
      const [result] = await newRecorder(table, now)([fetched(n, now - 1_000)]);
      expect(result).toMatchObject({ kind: 'recorded', record: { provenance: n === 0 ? 'computed' : 'free' } });
    }
  });

  it('shows the status of an ended batch, and a part of its results, as unknown until the results are counted', async () => {
    const accountId = newAccountId();
    const path = '/v1/messages/batches/b';
    const reading = { dialect: 'free' as const, usage: null, usageSource: 'none' as const };
    const status = (n: number) =>
      closeEvent({
        accountId,
        n,
        method: 'GET',
        path,
        provider: 'anthropic',
        reading: { ...reading, billableItems: { 'batch.succeeded': 2 } },
      });
    const fetched = (n: number, complete = true) =>
      closeEvent({
        accountId,
        n,
        method: 'GET',
        path: `${path}/results`,
        provider: 'anthropic',
        reading: { dialect: 'anthropic-batch-output', complete },
      });
    const results = fetched(3);
    const price = (event: Parameters<typeof priceOfTokens>[0]) =>
      event.reading.usage && event.reading.complete ? priceOfTokens(event) : priceRequest({ ...status(0), ...event });
    const record = openRecorder(table, { logger: silent, price, now: () => NOW });
    const found = [];
    for (const event of [status(1), status(2), fetched(5, false), results, status(4), fetched(6, false)])
      for (const result of await record([event]))
        found.push(result.kind === 'recorded' ? [result.record.provenance, result.record.repeatOf] : result);
    expect(found).toEqual([
      ['unknown', null],
      ['unknown', null],
      ['unknown', null],
      ['computed', null],
      ['free', results.requestId],
      ['free', results.requestId],
    ]);
  });

  it.each([
    [
      'a response',
      '/v1/responses/resp_1',
      { dialect: 'openai-responses' as const, billableItems: { 'response.id': 'resp_1' } },
    ],
    ["a batch's results", '/v1/messages/batches/b/results', { dialect: 'anthropic-batch-output' as const }],
  ])('counts %s that is fetched again with the first request that shows it', async (_, path, reading) => {
    const accountId = newAccountId();
    const again = { accountId, method: 'GET', path, reading, tokens: 10 };
    const events = [1, 2, 3, 4].map((n) => closeEvent({ ...again, n }));
    await newRecorder()(events.slice(0, 2));
    await Promise.all(events.slice(2).map((event) => newRecorder()([event])));
    const { days } = await ledgerSums(table, accountId, []);
    expect(Object.values(days)).toEqual([
      {
        requests: 4,
        freeRequests: 3,
        inputTokens: 10,
        costComputedNanoUsd: 70,
        'milliUnits.audioSeconds': 1_250,
        'ms.15': 4,
      },
    ]);
  });
});
