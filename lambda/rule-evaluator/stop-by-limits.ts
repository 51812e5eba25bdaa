import type { BlockStore } from '../data/alerts/blocks.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import type { KeyInProject } from '../domain/accounts/project.ts';
import { useOf } from '../domain/limits/limit.ts';
import {
  concernsGateway,
  type LimitState,
  reservedPeriods,
  usedById,
  useSamples,
  withLimits,
} from '../domain/limits/limit-blocks.ts';
import { type BoundEvaluator, currentPeriod } from '../domain/limits/rule.ts';
import type { SpendSeries } from '../domain/limits/spend-series.ts';
import { CounterOverflowError } from '../domain/spend/counters.ts';

interface Judged {
  readonly rule: Rule;
  readonly evaluator: BoundEvaluator;
  readonly series: SpendSeries;
}

/**
 * Prepares what an account's limits stop, before their spend is read. The returned function writes it afterwards, and returns the limits
 * whose use is no longer exact, with the errors.
 */
export const stopByLimits =
  (
    blocks: Pick<BlockStore, 'change'>,
    reservations: Pick<Reservations, 'compare'>,
    measures: Pick<MeasureStore, 'note'>,
  ) =>
  async (
    accountId: string,
    { judged, keys, now }: { judged: readonly Judged[]; keys: readonly KeyInProject[]; now: Date },
  ): Promise<() => Promise<Map<string, unknown>>> => {
    const isConcerned = judged.some(({ evaluator: { limit } }) => limit && concernsGateway(limit));
    const current = judged.flatMap(({ rule: { ruleId, name }, evaluator, series }) => {
      const { limit } = evaluator;
      const period = currentPeriod(evaluator, now);
      return limit && period && concernsGateway(limit) ? [{ ruleId, name, limit, period, series }] : [];
    });
    const adjustReservations = await reservations.compare(accountId, reservedPeriods(current));

    return async () => {
      const failures = new Map<string, unknown>();
      const states: LimitState[] = [];
      for (const { series, ...each } of current)
        try {
          states.push({ ...each, use: useOf(each.limit, series.sum(each.period.start, each.period.end)) });
        } catch (error) {
          if (!(error instanceof CounterOverflowError)) throw error;
          failures.set(each.ruleId, error);
        }
      await adjustReservations(usedById(states));
      if (isConcerned)
        await blocks.change(accountId, (before) => withLimits(before, states, new Set(failures.keys()), keys));
      const samples = useSamples(states);
      if (samples.length > 0) await measures.note(accountId, samples, now);
      return failures;
    };
  };
