import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Range } from '../../../lambda/domain/calendar/range.ts';
import { addDays, bucketOf, type Granularity } from '../../../lambda/domain/calendar/utc.ts';
import type { Counters } from '../../../lambda/domain/spend/counters.ts';
import {
  type DisplayCurrency,
  describeCurrency,
  displayCostAt,
} from '../../../lambda/domain/spend/display-currency.ts';
import { spendCsv } from '../../../lambda/domain/spend/spend-csv.ts';
import { type ReadCounters, readCountersFrom, type StoredQuery } from '../../../lambda/domain/spend/spend-question.ts';
import { spendReport, totalOf } from '../../../lambda/domain/spend/spend-report.ts';

const FIRST = '2026-09-01';
const DAYS = 91;
const until = `${addDays(FIRST, DAYS)}T00:00:00.000Z`;
const rangeBy = (granularity: Granularity): Range => ({ granularity, from: `${FIRST}T00:00:00.000Z`, to: until });

interface Spent {
  readonly day: number;
  readonly hour: number;
  readonly model: string;
  readonly counters: Counters;
}

const timeOf = ({ day, hour }: Spent) => `${addDays(FIRST, day)}T${String(hour).padStart(2, '0')}`;

const readerOf = (spent: readonly Spent[], onRead: (query: StoredQuery) => void = () => {}): ReadCounters =>
  readCountersFrom({
    readStored: async function* (query) {
      onRead(query);
      for (const each of [...spent].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1)))
        yield {
          time: bucketOf(timeOf(each), query.range.granularity),
          dimensions: { provider: 'openai', model: each.model, tag: null, keyId: null, providerKey: null },
          counters: each.counters,
        };
    },
    listKeys: async () => [],
  });

const reportOf = (spent: readonly Spent[], currency: DisplayCurrency | null, range: Range) => {
  const question = { accountId: 'a', range, groupBy: ['model'] as const, filter: {}, currency };
  return spendReport(readerOf(spent)(question), { ...question, limit: 1 });
};

/** Of a decimal: an integer of 1e-9. */
const nano = (decimal: string | null | undefined): bigint => {
  const [whole = '', fraction = ''] = (decimal ?? '').split('.');
  return BigInt(whole + fraction.padEnd(9, '0'));
};

const euro: DisplayCurrency = {
  code: 'EUR',
  rates: [
    { from: '2026-09-01', perUsd: '0.9' },
    { from: '2026-10-15', perUsd: '0.8' },
  ],
};
const dollar = { requests: 1, costComputedNanoUsd: 1_000_000_000 };

describe('display currency', () => {
  it('adds each day at its rate, exactly, rounded once: the same by hour, day and month', async () => {
    const day = fc.nat(DAYS - 1);
    const spending = fc.array(
      fc.record({
        day,
        hour: fc.nat(23),
        model: fc.constantFrom('a', 'b', 'c'),
        counters: fc.record({ requests: fc.constant(1), costComputedNanoUsd: fc.nat(2 ** 40) }),
      }),
      { maxLength: 30 },
    );
    const rates = fc.tuple(fc.uniqueArray(day, { maxLength: 4 }), fc.infiniteStream(fc.integer({ min: 1, max: 1e12 })));
    await fc.assert(
      fc.asyncProperty(spending, rates, async (spent, [days, values]) => {
        const scaled = [0, ...days.filter((each) => each > 0).sort((a, b) => a - b)].map((from) => ({
          from,
          perUsd: BigInt(values.next().value as number),
        }));
        const text = (value: bigint) => `${value / 10n ** 9n}.${String(value % 10n ** 9n).padStart(9, '0')}`;
        const currency = {
          code: 'XXX',
          rates: scaled.map(({ from, perUsd }) => ({ from: addDays(FIRST, from), perUsd: text(perUsd) })),
        };
        const exact = spent.reduce((sum, each) => {
          const rate = scaled.findLast(({ from }) => from <= each.day)?.perUsd ?? 0n;
          return sum + BigInt(each.counters.costComputedNanoUsd ?? 0) * rate;
        }, 0n);
        for (const granularity of ['hour', 'day', 'month'] as const) {
          const report = await reportOf(spent, currency, rangeBy(granularity));
          expect(nano(report.totals.displayCost)).toBe((exact + 5n * 10n ** 8n) / 10n ** 9n);
          const parts = [...report.groups, ...(report.otherGroups ? [report.otherGroups] : [])];
          for (const list of [parts, report.series]) {
            const sum = list.reduce((total, { displayCost }) => total + nano(displayCost), 0n);
            const off = sum - nano(report.totals.displayCost);
            expect(2 * Math.abs(Number(off))).toBeLessThanOrEqual(list.length + 1);
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  it('uses the rate of the day on which it begins, and reads a month by day where a rate changes within it', async () => {
    const spent = [44, 43].map((day) => ({ day, hour: 0, model: 'a', counters: dollar }));
    const { series, totals } = await reportOf(spent, euro, rangeBy('month'));
    expect(series.map(({ displayCost }) => displayCost)).toEqual(['0', '1.7', '0']);
    expect(series[1]?.groups).toMatchObject([{ model: 'a', costUsd: '2', displayCost: '1.7' }]);
    expect(totals).toMatchObject({ costUsd: '2', displayCost: '1.7' });
    expect(displayCostAt(euro, '2026-10-14T23:59:59.999Z', 1)).toBe('0.000000001');
    expect(displayCostAt(euro, '2026-10-15T00:00:00.000Z', 1_000_000_000)).toBe('0.8');
  });

  it('converts nothing where a rate or the cost is not known, and gives the reason', async () => {
    const late: DisplayCurrency = { code: 'EUR', rates: [{ from: '2026-09-03', perUsd: '0.9' }] };
    const spent = [1, 2].map((day) => ({ day, hour: 0, model: 'a', counters: dollar }));
    const { totals, series } = await reportOf(spent, late, rangeBy('day'));
    expect(totals).toMatchObject({ costUsd: '2', displayCost: null });
    expect(series.slice(0, 4).map(({ displayCost }) => displayCost)).toEqual(['0', null, '0.9', '0']);
    expect(series.slice(1, 3).map(({ groups }) => groups[0]?.displayCost)).toEqual([null, '0.9']);
    expect(describeCurrency(late, rangeBy('day'))).toEqual({
      code: 'EUR',
      perUsd: '0.9',
      problem: 'There is no rate for days before 2026-09-03: add one to the currency.',
    });
    expect(describeCurrency(euro, rangeBy('day'))).toEqual({ code: 'EUR', perUsd: '0.8', problem: null });
    expect(displayCostAt(late, '2026-09-02T00:00:00.000Z', 1)).toBeNull();
    expect(displayCostAt(late, '2026-09-02T00:00:00.000Z', 0)).toBe('0');

    const unpriced = [{ day: 3, hour: 0, model: 'a', counters: { requests: 1, unpricedRequests: 1 } }];
    const unknown = await reportOf(unpriced, late, rangeBy('day'));
    expect(unknown.totals).toMatchObject({ costUsd: null, displayCost: null });
    expect(unknown.series[3]?.groups[0]).toMatchObject({ costUsd: null, displayCost: null });
  });

  it('does not read years by day', async () => {
    const range: Range = { granularity: 'month', from: '2025-01-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    const asked: Granularity[] = [];
    const spent = [{ day: 0, hour: 0, model: 'a', counters: dollar }];
    const read = readerOf(spent, (query) => void asked.push(query.range.granularity));
    const question = { accountId: 'a', range, groupBy: [], filter: {}, currency: euro };
    const { totals } = await totalOf(read(question), question);
    expect(asked).toEqual(['month']);
    expect(totals).toMatchObject({ costUsd: '1', displayCost: null });
    expect(describeCurrency(euro, range).problem).toMatch('choose at most 12 months');
  });

  it('leaves reports without a currency as they are, and adds columns to CSV', async () => {
    const spent = [{ day: 44, hour: 0, model: 'a', counters: dollar }];
    const plain = await reportOf(spent, null, rangeBy('day'));
    for (const sums of [plain.totals, plain.series[44], plain.series[44]?.groups[0]])
      expect(sums).not.toHaveProperty('displayCost');
    const csv = async (currency: DisplayCurrency | null) => {
      const range = rangeBy('day');
      const counters = readerOf(spent)({ accountId: 'a', range, groupBy: ['model'], currency });
      let text = '';
      for await (const piece of spendCsv(counters, { range, groupBy: [], filter: {}, currency }, String)) text += piece;
      return text;
    };
    expect(await csv(euro)).toMatch(/,list_unpriced_requests,display_cost,display_currency\r\n.*,1,0,0\.8,EUR\r\n$/);
    expect(await csv(null)).toMatch(/,list_unpriced_requests\r\n.*,1,0\r\n$/);
  });
});
