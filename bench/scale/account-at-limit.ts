import type { EmulatedTable } from '../../fixtures/emulated-table.ts';
import { markForRollup, openRollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { summaryItems } from '../../lambda/data/spend/summary-pages.ts';
import { ROLLUP_MARK_SHARDS, spendCounterKey } from '../../lambda/data/table/keys.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { dayOf } from '../../lambda/domain/calendar/utc.ts';
import { addCounters, type Counters } from '../../lambda/domain/spend/counters.ts';
import { overflowDimensions, type SpendDimensions } from '../../lambda/domain/spend/dimensions.ts';
import { durationCounterName } from '../../lambda/domain/spend/durations.ts';
import { summarize } from '../../lambda/domain/spend/summary.ts';
import { exportLine, filledTable } from '../emulated/filled-table.ts';

export const ACCOUNT = 'svc_limit';
/** One of its tags. */
export const TAG = 'user-4';
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
const models = ['gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'o3-mini-2025-01-31', 'gpt-4.1-2025-04-14', 'gpt-5'];

/** The most distinct counters of an account in a day (dimensions.ts), with one tag for each user: 1,000 are kept apart, the rest overflows. */
const crosses: readonly SpendDimensions[] = Array.from({ length: 1_751 }, (_, n) => {
  const level = Math.max(0, Math.ceil((n - 999) / 250));
  return overflowDimensions(
    {
      provider: 'openai',
      model: level === 3 ? null : (models[n % models.length] ?? null),
      tag: `user-${n}`,
      keyId: level === 0 ? 'key-1' : `01939b3e-8f6a-7c11-a6b1-${String(n).padStart(12, '0')}`,
      providerKey: 'c0ffee00c0ffee00c0ffee00',
    },
    level,
  );
});

/** Durations of so many requests, most of them in a range of 22 buckets. */
const durationsOf = (n: number, requests: number): Counters =>
  Array.from({ length: requests }, (_, each) => 30 + ((n * 31 + each * 7) % 22))
    .map((bucket): Counters => ({ [durationCounterName(bucket)]: 1 }))
    .reduce(addCounters, {});

/** Counters of a few chat completions, all different. */
const countersOf = (n: number): Counters => ({
  requests: 3 + (n % 17),
  costComputedNanoUsd: 1_234_567 + ((n * 7_919) % 9_000_001),
  inputTokens: 2_431 + ((n * 104_729) % 50_021),
  outputTokens: 720 + ((n * 1_299_709) % 9_973),
  cacheReadTokens: 384 + ((n * 15_485_863) % 4_099),
  ...(n % 5 === 0 && { errors: 1 }),
  ...durationsOf(n, 3 + (n % 17)),
});

interface Size {
  /** Days, including today, that have all counters. */
  readonly days: number;
  /** Days before those that are there as summaries alone. */
  readonly summedDays: number;
}

function* lines({ days, summedDays }: Size, now: Date): Generator<string> {
  const dayAgo = (back: number) => dayOf(new Date(now.getTime() - back * DAY_MS).toISOString());
  let n = 0;
  for (let back = 0; back < days; back++) {
    const day = dayAgo(back);
    yield exportLine(markForRollup(ACCOUNT, day, now.getTime() - back * DAY_MS).Put.Item);
    for (const cross of crosses) {
      yield exportLine({ ...spendCounterKey(ACCOUNT, 'DAY', day, cross), ...countersOf(n++) });
      for (const hour of HOURS)
        yield exportLine({ ...spendCounterKey(ACCOUNT, 'HOUR', `${day}T${hour}`, cross), ...countersOf(n++) });
    }
  }
  for (let back = days; back < days + summedDays; back++) {
    const counters = crosses.map((dimensions) => ({ dimensions, counters: countersOf(n++) }));
    yield* summaryItems(
      { accountId: ACCOUNT, granularity: 'DAY', period: dayAgo(back), version: 'bench' },
      summarize(counters),
    ).map(exportLine);
  }
}

/** A table with one account that has as many counters in each hour of each day as it can. Closed days are rolled up. */
export const accountAtLimit = async (size: Size, now: Date): Promise<EmulatedTable> => {
  const table = await filledTable(lines(size, now));
  const marks = openRollupMarks(table, () => now.getTime());
  const { rollUp } = openRollup(table, () => now.getTime());
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const mark of marks.due(shard)) await rollUp(mark);
  return table;
};
