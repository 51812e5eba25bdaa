import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { interceptTable } from '../../../fixtures/intercept-table.ts';
import { openRollupMarks, type RollupMark } from '../../../lambda/data/ledger/rollup-marks.ts';
import { openRollup } from '../../../lambda/data/spend/rollup.ts';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { ROLLUP_MARK_SHARDS, summaryKey } from '../../../lambda/data/table/keys.ts';
import type { Range } from '../../../lambda/domain/calendar/range.ts';
import { addCounters, type Counters, knownCostNanoUsd } from '../../../lambda/domain/spend/counters.ts';
import { crossDimensionNames, type SpendDimensionName } from '../../../lambda/domain/spend/dimensions.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { rollUpDuePeriods } from '../../../lambda/usage-recorder/rollup/roll-up-due-periods.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import { addSpend, costing } from '../add-spend.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-10-29T12:00:00Z');

const table = tableForTests();

/** The service at a time that the test sets. */
const serviceAt = (start: number, accountId: string) => {
  let now = start;
  const record = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => now });
  const marks = openRollupMarks(table, () => now);
  const failures: unknown[] = [];
  /** A summary of what was read late would stay wrong. */
  const reading = interceptTable(table, async ({ operation, input }, send) => {
    if (operation === 'Query' && !input.ConsistentRead) failures.push(input);
    return send();
  });
  const rollup = openRollup(reading, () => now);
  async function* ownMarks(shard: number) {
    for await (const mark of marks.due(shard)) if (mark.accountId === accountId) yield mark;
  }
  return {
    record,
    failures,
    sleep: (ms: number) => {
      now += ms;
    },
    now: () => now,
    dueMarks: async () => {
      const found: RollupMark[] = [];
      for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
        for await (const mark of ownMarks(shard)) found.push(mark);
      return found;
    },
    rollUpDue: () =>
      rollUpDuePeriods({
        marks: { due: ownMarks },
        rollup,
        logger: { error: (...line) => void failures.push(line) },
        metrics: { addMetric: () => {} },
      })(() => 60_000),
  };
};

let accounts = 0;
const newAccountId = () => `svc_${++accounts}`;

const charactersOf = { hour: 13, day: 10, month: 7 };

/** Sums by time and by the values of some dimensions: only these are certain to be separate. */
const sumsBy = async (accountId: string, range: Range, dimensions: readonly SpendDimensionName[]) => {
  const characters = charactersOf[range.granularity];
  let last = '';
  const sums: Record<string, Counters> = {};
  for await (const spendCounter of openSpend(table).read({ accountId, range, groupBy: dimensions, latency: true })) {
    expect(spendCounter.time >= last).toBe(true);
    last = spendCounter.time;
    const key = JSON.stringify([
      spendCounter.time.slice(0, characters),
      ...dimensions.map((name) => spendCounter.dimensions[name]),
    ]);
    sums[key] = addCounters(sums[key] ?? {}, spendCounter.counters);
  }
  return sums;
};

const november = (granularity: Range['granularity']): Range => ({
  granularity,
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      count: fc.integer({ min: 1, max: 5 }),
      ageMs: fc.integer({ min: 0, max: 40 * DAY_MS }),
      recent: fc.boolean(),
      tag: fc.constantFrom('x', 'y', null),
      model: fc.constantFrom('a', 'b'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('sleep' as const), ms: fc.integer({ min: HOUR_MS, max: 3 * DAY_MS }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'roll-up' as const }) },
);

describe('spend of closed days and months', () => {
  it('is the sum of what was recorded at every moment, also after late records and repeated rollups', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const accountId = newAccountId();
        const service = serviceAt(START, accountId);
        const recorded: { time: string; tag: string | null; model: string; tokens: number }[] = [];
        let n = 0;
        const check = async () => {
          for (const [granularity, dimensions] of [
            ['month', []],
            ['month', ['tag']],
            ['month', ['provider', 'model', 'tag']],
            ['day', ['model']],
            ['day', ['tag', 'model']],
            ['hour', ['tag']],
            ['hour', ['tag', 'model']],
          ] as const) {
            const range = { granularity, from: '2026-09-01T00:00:00.000Z', to: '2027-03-01T00:00:00.000Z' };
            const found = await sumsBy(accountId, range, dimensions);
            const expected: Record<string, number> = {};
            for (const { tokens, ...request } of recorded) {
              const values = { provider: 'openai', keyId: 'key-1', providerKey: 'fingerprint', ...request };
              const time = request.time.slice(0, charactersOf[granularity]);
              const key = JSON.stringify([time, ...dimensions.map((name) => values[name])]);
              expected[key] = (expected[key] ?? 0) + tokens;
            }
            expect(Object.fromEntries(Object.entries(found).map(([key, sum]) => [key, sum.inputTokens]))).toEqual(
              expected,
            );
          }
        };
        for (const each of steps) {
          if (each.kind === 'sleep') service.sleep(each.ms);
          if (each.kind === 'roll-up') await service.rollUpDue();
          if (each.kind === 'record') {
            const startedAt = new Date(
              service.now() - (each.recent ? each.ageMs / 480 : Math.min(each.ageMs, 28 * DAY_MS)),
            ).toISOString();
            const events = Array.from({ length: each.count }, () => {
              n += 1;
              recorded.push({ time: startedAt, tag: each.tag, model: each.model, tokens: n });
              return closeEvent({
                accountId,
                n,
                startedAt,
                tag: each.tag,
                tokens: n,
                reading: { modelServed: each.model },
              });
            });
            const results = await service.record(events);
            expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
          }
          if (each.kind !== 'sleep') await check();
        }
        expect(service.failures).toEqual([]);
      }),
      { numRuns: 6 },
    );
  });

  it('is read from a few summaries once its days are rolled up', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-01T12:00:00Z'), accountId);
    for (let day = 0; day < 30; day++) {
      await service.record(
        Array.from({ length: 60 }, (_, i) =>
          closeEvent({
            accountId,
            n: day * 100 + i,
            startedAt: new Date(service.now()).toISOString(),
            tag: `tag-${i % 20}`,
            tokens: 1,
            reading: { modelServed: `model-${i % 3}` },
          }),
        ),
      );
      service.sleep(DAY_MS);
      await service.rollUpDue();
    }
    const read = async (range: Range, dimensions: readonly SpendDimensionName[]) => {
      let items = 0;
      const counting = interceptTable(table, async (_, send) => {
        const response = (await send()) as { Items?: unknown[] };
        items += response.Items?.length ?? 0;
        return response;
      });
      let requests = 0;
      for await (const { counters } of openSpend(counting).read({ accountId, range, groupBy: dimensions }))
        requests += counters.requests ?? 0;
      return { items, requests };
    };
    // 30 days, and the marks of the last day and of the month.
    expect(await read(november('day'), ['model'])).toEqual({ items: 31, requests: 1_800 });
    expect(await read(november('day'), [...crossDimensionNames])).toEqual({ items: 31, requests: 1_800 });
    const hours = { ...november('hour'), from: '2026-11-01T02:00:00.000Z' };
    expect(await read(hours, [])).toEqual({ items: 30, requests: 1_800 });
    expect(await read(hours, ['model'])).toEqual({ items: 30, requests: 1_800 });
    expect(await read(hours, [...crossDimensionNames])).toEqual({ items: 30, requests: 1_800 });
    service.sleep(2 * HOUR_MS);
    await service.rollUpDue();
    expect(await read(november('month'), ['model'])).toEqual({ items: 1, requests: 1_800 });
    expect(await service.dueMarks()).toEqual([]);
    expect(Object.keys(await sumsBy(accountId, november('month'), ['tag']))).toHaveLength(20);
  });

  it('is read from hour counters where a day has no summary of its hours, and between days that have one', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-10T23:00:00Z'), accountId);
    const tokensOf: Record<string, number> = {};
    // One day among them has no requests.
    for (const [n, day] of ['10', '11', '13', '14'].entries()) {
      for (const hour of ['00', '07', '22']) {
        const startedAt = `2026-11-${day}T${hour}:30:00.000Z`;
        tokensOf[startedAt.slice(0, 13)] = n + 1;
        await service.record([
          closeEvent({ accountId, n: 100 * Number(day) + Number(hour), startedAt, tokens: n + 1 }),
        ]);
      }
    }
    service.sleep(7 * DAY_MS);
    await service.rollUpDue();
    for (const day of ['11', '14'])
      for (const view of ['TOTALS', 'model', 'CELLS'] as const)
        await table.call('DeleteItem', {
          TableName: table.name,
          Key: { ...summaryKey(accountId, view, 'HOUR', `2026-11-${day}`, 0) },
        });
    for (const dimensions of [[], ['model'], [...crossDimensionNames]] as const) {
      const read = async (from: string, to: string) => {
        const sums = await sumsBy(accountId, { granularity: 'hour', from, to }, dimensions);
        return Object.fromEntries(Object.entries(sums).map(([key, sum]) => [JSON.parse(key)[0], sum.inputTokens]));
      };
      expect(await read('2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z')).toEqual(tokensOf);
      for (const last of ['2026-11-14T00', '2026-11-14T21']) {
        const part = Object.entries(tokensOf).filter(([hour]) => hour > '2026-11-10T07' && hour <= last);
        expect(await read('2026-11-10T08:00:00.000Z', `${last}:59:59.999Z`)).toEqual(Object.fromEntries(part));
      }
    }
  });

  it('never hides what is recorded while a day is being rolled up', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-10T23:00:00Z'), accountId);
    const late = { accountId, startedAt: '2026-11-10T22:00:00.000Z', tokens: 1 };
    await service.record([closeEvent({ ...late, n: 1 })]);
    service.sleep(3 * HOUR_MS);
    const [mark] = await service.dueMarks();
    expect(mark?.period).toBe('2026-11-10');
    let overtaken = false;
    const slow = openRollup(
      interceptTable(table, async (command, send) => {
        // Not the transaction that closes the day, but the one that writes the summary.
        const writesSummary =
          command.operation === 'TransactWriteItems' && (command.input.TransactItems?.length ?? 0) > 1;
        if (writesSummary && !overtaken) {
          overtaken = true;
          await service.record([closeEvent({ ...late, n: 2 })]);
        }
        return send();
      }),
      service.now,
    );
    expect(await slow.rollUp(mark as RollupMark)).toBe('changed');
    const requests = async () => (await sumsBy(accountId, november('day'), []))['["2026-11-10"]']?.requests;
    expect(await requests()).toBe(2);
    await service.rollUpDue();
    expect(await requests()).toBe(2);
    // A rollup with an outdated mark must not restore the old summary.
    expect(await openRollup(table, service.now).rollUp(mark as RollupMark)).toBe('changed');
    expect(await requests()).toBe(2);
  });

  it('is rolled up in two transactions: one closes the day, one has all summaries', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-01T12:00:00Z'), accountId);
    await service.record([
      closeEvent({ accountId, n: 1, startedAt: '2026-11-01T12:00:00.000Z', tokens: 1 }),
      closeEvent({ accountId, n: 2, startedAt: '2026-11-01T13:00:00.000Z', tokens: 1 }),
    ]);
    service.sleep(DAY_MS);
    const operations: string[] = [];
    const counting = interceptTable(table, ({ operation }, send) => {
      operations.push(operation);
      return send();
    });
    const [mark] = await service.dueMarks();
    expect(await openRollup(counting, service.now).rollUp(mark as RollupMark)).toBe('rolled-up');
    expect(operations.filter((operation) => operation === 'TransactWriteItems')).toHaveLength(2);
  });

  it('is rolled up by the month only once its days are', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-10T12:00:00Z'), accountId);
    await service.record([closeEvent({ n: 1, accountId, startedAt: '2026-10-30T12:00:00.000Z' })]);
    const month = { accountId, period: '2026-10', nonce: 'any' };
    expect(await openRollup(table, service.now).rollUp(month)).toBe('waiting');
  });

  it('is rolled up no sooner than an hour after the end of its day', async () => {
    const accountId = newAccountId();
    const service = serviceAt(Date.parse('2026-11-10T23:59:59Z'), accountId);
    await service.record([closeEvent({ accountId, startedAt: '2026-11-10T23:59:59.000Z' })]);
    service.sleep(HOUR_MS);
    expect(await service.dueMarks()).toEqual([]);
    service.sleep(2_000);
    expect(await service.dueMarks()).toHaveLength(1);
  });
});

it('rolls up a day in which one sum is no longer exact, and its month: only that sum is refused, in every way of reading', async () => {
  const accountId = newAccountId();
  const service = serviceAt(Date.parse('2026-10-31T12:00:00Z'), accountId);
  const huge = { requests: 1, inputTokens: 7, costComputedNanoUsd: Number.MAX_SAFE_INTEGER };
  for (let i = 0; i < 2; i++) await addSpend(table, accountId, '2026-10-30T10:00:00Z', huge, { model: 'huge' });
  await addSpend(table, accountId, '2026-10-30T11:00:00Z', costing(3), { model: 'm' });
  await addSpend(table, accountId, '2026-10-31T11:00:00Z', costing(4), { model: 'm' });

  const costsBy = async (granularity: Range['granularity'], dimensions: readonly SpendDimensionName[]) => {
    const to = '2026-11-01T00:00:00.000Z';
    const range = {
      granularity,
      from: granularity === 'hour' ? '2026-10-30T00:00:00.000Z' : '2026-10-01T00:00:00.000Z',
      to,
    };
    const costs: Record<string, number | string> = {};
    for (const [name, counters] of Object.entries(await sumsBy(accountId, range, dimensions)))
      try {
        costs[name] = knownCostNanoUsd(counters) / 1e9;
      } catch (error) {
        costs[name] = (error as Error).name;
      }
    return Object.values(costs).map(String).sort();
  };
  const refused = 'CounterOverflowError';
  const expectCosts = async () => {
    for (const dimensions of [['model'], ['model', 'provider']] as const) {
      expect(await costsBy('hour', dimensions)).toEqual(['3', '4', refused]);
      expect(await costsBy('day', dimensions)).toEqual(['3', '4', refused]);
    }
    expect(await costsBy('day', [])).toEqual(['4', refused]);
    expect(await costsBy('month', ['model'])).toEqual(['7', refused]);
  };
  await expectCosts();
  service.sleep(3 * DAY_MS);
  await service.rollUpDue();
  await service.rollUpDue();
  expect(service.failures).toEqual([]);
  expect(await service.dueMarks()).toEqual([]);
  await expectCosts();
  const tokens = await sumsBy(
    accountId,
    { granularity: 'month', from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
    [],
  );
  expect(Object.values(tokens)).toMatchObject([{ requests: 4, inputTokens: 14 }]);
});
