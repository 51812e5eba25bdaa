import type { ServiceKeys } from '../../data/accounts/service-keys.ts';
import type { openSessions } from '../../data/spend/sessions.ts';
import { coveringRange } from '../../domain/calendar/range.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { backtest, backtestRange } from '../../domain/limits/backtest.ts';
import { backtestValues, valuesRange } from '../../domain/limits/backtest-values.ts';
import { type BurnRateCondition, evaluatorOf, type RuleCondition } from '../../domain/limits/rule.ts';
import { spendSeries, splitSeries } from '../../domain/limits/spend-series.ts';
import { noDimensions } from '../../domain/spend/dimensions.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import { type KnownNames, requireKnown } from './rule-changes.ts';

export interface PreviewDependencies extends KnownNames {
  readonly readCounters: ReadCounters;
  readonly readSessions: ReturnType<typeof openSessions>['read'];
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly now: () => Date;
}

const previewValues = async (
  { readCounters, readSessions, keys }: PreviewDependencies,
  { accountId, condition, at }: { accountId: string; condition: BurnRateCondition; at: Date },
) => {
  const evaluator = evaluatorOf(condition);
  const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
  const series = splitSeries(evaluator);
  const { from, readFrom } = valuesRange(at);
  if (evaluator.splitBy === 'session')
    await readSessions(accountId, { from: dayOf(from.toISOString()), to: dayOf(at.toISOString()) }, (counter) =>
      series.addTo(counter.sessionId, {
        ...{ time: counter.firstHour.slice(0, 10), dimensions: noDimensions, counters: counter.counters },
      }),
    );
  else {
    const range = coveringRange('hour', readFrom, new Date(at.getTime() + 1));
    for await (const counter of readCounters({ accountId, range, groupBy: evaluator.readBy })) series.add(counter);
  }
  const result = backtestValues(condition, series.ofValues, at);
  const firings = result.firings.map(({ of, ...firing }) => ({
    ...firing,
    of: of?.dimension === 'key' ? { ...of, label: names.get(of.value) ?? null } : of,
  }));
  return { ...result, firings, mayAlsoMatch: null };
};

/** Judges the last 30 days by a rule or budget. Nothing is stored or sent. */
export const previewCondition = async (
  dependencies: PreviewDependencies,
  accountId: string,
  condition: RuleCondition,
) => {
  await requireKnown(dependencies, accountId, condition);
  const at = dependencies.now();
  if (condition.type === 'burn_rate') return previewValues(dependencies, { accountId, condition, at });
  const evaluator = evaluatorOf(condition);
  const { read } = backtestRange(condition, at);
  const series = spendSeries(evaluator);
  for await (const counter of dependencies.readCounters({ accountId, range: read, groupBy: evaluator.readBy }))
    series.add(counter);
  return { ...backtest(condition, series, at), mayAlsoMatch: series.mayAlsoMatch(read.from, read.to) ?? null };
};
