import { hash } from 'node:crypto';
import { type AuditEntry, auditEntry } from '../data/accounts/audit-log.ts';
import type { ListedKey } from '../data/accounts/service-keys.ts';
import type { BlockStore } from '../data/alerts/blocks.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import { type Block, type Blocks, isInForce } from '../domain/limits/block.ts';
import { useOf } from '../domain/limits/limit.ts';
import {
  type Belongings,
  concernsGateway,
  eachLimitOf,
  reservedPeriods,
  scopeOf,
  usedById,
  useSamples,
  withLimits,
} from '../domain/limits/limit-blocks.ts';
import { endMs, MAX_PAUSES, pausedText, withPause } from '../domain/limits/pauses.ts';
import { type BoundEvaluator, type BurnRateCondition, currentPeriod } from '../domain/limits/rule.ts';
import type { SpendSeries } from '../domain/limits/spend-series.ts';

interface Judged {
  readonly rule: Rule;
  readonly evaluator: BoundEvaluator;
  readonly series: SpendSeries;
}

/** Prepares what an account's limits stop, before their spend is read. The returned function writes it afterwards. */
export const stopByLimits =
  (
    blocks: Pick<BlockStore, 'changeByLimits'>,
    reservations: Pick<Reservations, 'compare'>,
    measures: Pick<MeasureStore, 'note'>,
    askUrl: string,
  ) =>
  async (
    accountId: string,
    { judged, keys, members, now }: { judged: readonly Judged[]; now: Date } & Belongings,
  ): Promise<() => Promise<void>> => {
    const rules = judged.map(({ rule }) => rule);
    const isConcerned = judged.some(({ evaluator: { limit } }) => limit && (concernsGateway(limit) || limit.each));
    const current = judged.flatMap(({ rule: { ruleId, name }, evaluator, series }) => {
      const { limit } = evaluator;
      const period = currentPeriod(evaluator, now);
      return limit && !limit.each && period && concernsGateway(limit) ? [{ ruleId, name, limit, period, series }] : [];
    });
    const each = judged.flatMap(({ rule: { ruleId, name }, evaluator: { limit } }) =>
      limit ? (eachLimitOf({ ruleId, name, limit }, { keys, members }, askUrl) ?? []) : [],
    );
    const adjustReservations = await reservations.compare(accountId, reservedPeriods(current));

    return async () => {
      const states = current.map(({ series, ...state }) => ({
        ...state,
        use: useOf(state.limit, series.sum(state.period.start, state.period.end)),
      }));
      await adjustReservations(usedById(states));
      const change = (before: Blocks) => withLimits(before, states, keys, each, now);
      if (isConcerned) await blocks.changeByLimits(accountId, rules, change, now);
      const samples = useSamples(states);
      if (samples.length > 0) await measures.note(accountId, samples, now);
    };
  };

/** Judging it again makes the same pause, not another. */
const pauseIdOf = ({ ruleId, conditionRevision }: Rule, period: Period, value: string): string =>
  hash('sha256', [ruleId, conditionRevision, period.start, value].join()).slice(0, 32);

/** The pause of one value that a rule fires for; undefined where the rule wants none, or the period is over. */
export const pauseOf = (
  rule: Rule<BurnRateCondition>,
  { period, value, keys, now }: { period: Period; value: string; keys: readonly ListedKey[]; now: Date },
): Block | undefined => {
  const { each, filter = {}, pause } = rule.condition.config;
  if (pause === null || now.toISOString() >= period.end) return undefined;
  const { minutes } = pause;
  return {
    id: pauseIdOf(rule, period, value),
    kind: 'pause',
    name: rule.name,
    scope: each === 'session' ? { sessionId: value } : scopeOf({ ...filter, [each]: value }, keys),
    startedAt: now.toISOString(),
    until: minutes === null ? null : new Date(now.getTime() + minutes * MINUTE_MS).toISOString(),
    amountNanoUsd: null,
    spentNanoUsd: null,
    ruleId: rule.ruleId,
    // With a key or member in the filter, the pause is of some of its keys.
    ...(each === 'project' && (filter.key ?? filter.member) === undefined && { projectId: value }),
  };
};

/**
 * Starts pauses in one change of the account's blocks.
 *
 * @param pauses the most urgent first: the account may not have room for all
 * @returns by id, what the alert says of a pause
 */
export const startPauses =
  (blocks: Pick<BlockStore, 'change'>) =>
  async (accountId: string, pauses: readonly Block[], now: Date): Promise<ReadonlyMap<string, string>> => {
    const texts = new Map<string, string>();
    if (pauses.length === 0) return texts;
    const entries: AuditEntry[] = [];

    const start = (current: Blocks, pause: Block): Blocks => {
      // It was started by a judging that ended before its alert was written.
      const before = current.blocks.find((block) => block.id === pause.id && isInForce(block, now));
      const { blocks: changed, ended } = before
        ? { blocks: current, ended: undefined }
        : withPause(current, pause, now);
      if (ended === pause) {
        texts.set(pause.id, ` It is not paused: the account has ${MAX_PAUSES} pauses, the most there can be.`);
        return current;
      }
      const { until } = before ?? pause;
      const which = ended && `“${ended.name}” of ${pausedText(ended)}`;
      const forIt = which ? ` For that the pause ${which} ended early: an account has ${MAX_PAUSES} at most.` : '';
      texts.set(pause.id, ` It is paused until ${until ?? 'somebody ends that'}.${forIt}`);
      const details = {
        name: pause.name,
        paused: pausedText(pause),
        until: String(until),
        ...(which && { ended: which }),
      };
      entries.push(auditEntry(accountId, {}, { action: 'pause.started', subject: pause.id, details }, now));
      return changed;
    };

    // The pause that lasts longest comes first, so that none ends for another of the same judging.
    const inOrder = pauses.toSorted((a, b) => endMs(b) - endMs(a));
    await blocks.change(
      accountId,
      (current) => {
        entries.length = 0;
        return inOrder.reduce(start, current);
      },
      () => entries,
    );
    return texts;
  };
