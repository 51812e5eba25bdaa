import * as z from 'zod/mini';
import { hasFilter, type Part } from '../accounts/scope.ts';
import { type Period, type PeriodName, periodsToJudge } from '../calendar/periods.ts';
import { burnRate } from './burn-rate.ts';
import { ruleFilterOf } from './config-members.ts';
import type { Evaluator, Filtered } from './evaluator.ts';
import { budget, budgetForecast, costThreshold } from './limit-rules.ts';
import { errorRate, unpricedUsage } from './request-rules.ts';
import { spendAnomaly } from './spend-anomaly.ts';
import { filteredBy, splitDimension } from './spend-series.ts';

/**
 * The types of alert rules. A new row is a new type: validation, the evaluator and the API's schema follow from it. The web pages'
 * tables by `RuleType` do not compile until they have the row too.
 */
const evaluators = {
  cost_threshold: costThreshold,
  spend_anomaly: spendAnomaly,
  budget_forecast: budgetForecast,
  error_rate: errorRate,
  unpriced_usage: unpricedUsage,
  burn_rate: burnRate,
  budget,
} as const;

type ConditionType = keyof typeof evaluators;
const conditionTypes = Object.keys(evaluators) as [ConditionType, ...ConditionType[]];

/** The types of /alert-rules. A budget is a rule, too, with an API of its own. */
export type RuleType = Exclude<ConditionType, 'budget'>;
export const ruleTypes = conditionTypes.filter((type) => type !== 'budget') as [RuleType, ...RuleType[]];

const schemaOfTypes = <T extends ConditionType, S extends z.core.$ZodShape>(types: readonly T[], members: S) => {
  const schemaOf = <One extends T>(type: One) =>
    z.strictObject({ type: z.literal(type), config: evaluators[type].configSchema, ...members });
  type SchemaOf = { [One in T]: ReturnType<typeof schemaOf<One>> };
  return z.discriminatedUnion('type', types.map(schemaOf) as unknown as [SchemaOf[T], ...SchemaOf[T][]]);
};

/** Schema of a rule's type, the config of that type, and the given members. */
export const withCondition = <S extends z.core.$ZodShape>(members: S) => schemaOfTypes(ruleTypes, members);

/** When a rule fires: its type, and the config of that type. */
export type RuleCondition = {
  [T in ConditionType]: { readonly type: T; readonly config: z.infer<(typeof evaluators)[T]['configSchema']> };
}[ConditionType];

export const ruleConditionSchema = schemaOfTypes(conditionTypes, {}) as unknown as z.ZodMiniType<RuleCondition>;

export type BurnRateCondition = Extract<RuleCondition, { type: 'burn_rate' }>;
export type BudgetCondition = Extract<RuleCondition, { type: 'budget' }>;
export type AlertCondition = Exclude<RuleCondition, BudgetCondition>;

/** An evaluator with its config filled in. */
export type BoundEvaluator = ReturnType<typeof bind>;

const bind = <C extends Filtered>(
  { limitOf, periodOf, periodsOf, splitBy, lookbackDays, judge, rankedBy = 'cost' }: Evaluator<C>,
  config: C,
) => {
  const period = periodOf(config);
  const filter = config.filter && ruleFilterOf(config.filter);
  const split = splitBy?.(config);
  const dimension = splitDimension(split);
  return {
    /** Undefined where the rule compares no spend with an amount. */
    limit: limitOf?.(config),
    period,
    /** The periods to judge now, latest first. @param judgedUntil when they were judged before */
    periodsToJudge: (now: Date, judgedUntil: Date = now): Period[] =>
      periodsOf?.(config, now, judgedUntil) ?? periodsToJudge(period as PeriodName, now, judgedUntil),
    /** Spend is read by hours or by days. Only hourly rules need hours; days are rolled up once they are over. */
    granularity: period === 'hourly' ? ('hour' as const) : ('day' as const),
    filter,
    splitBy: split,
    readBy: [...new Set([...filteredBy(filter), ...(dimension ? [dimension] : [])])],
    lookbackDays: lookbackDays?.(config) ?? 0,
    judge: (judged: Parameters<typeof judge>[1]) => judge(config, judged),
    rankedBy,
  };
};

export const evaluatorOf = ({ type, config }: RuleCondition): BoundEvaluator =>
  bind(evaluators[type] as unknown as Evaluator<Filtered>, config);

/** True if all that a rule counts is in a part of an account. Sessions are judged without a filter. */
export const isRuleIn = (part: Part, condition: RuleCondition): boolean =>
  hasFilter(part, evaluatorOf(condition).filter);

/** The period of a rule that runs now; null before and after a fixed one. */
export const currentPeriod = ({ periodsToJudge }: BoundEvaluator, now: Date): Period | null => {
  const [latest] = periodsToJudge(now);
  return latest && now.toISOString() < latest.end ? latest : null;
};

/** Channels to a service, each with a target of its own: a URL or key. Their types are in channels.ts. */
export const targetNames = ['slack', 'teams', 'pagerduty'] as const;
export type TargetName = (typeof targetNames)[number];

export const channelNames = ['email', 'webhook', ...targetNames] as const;
export type ChannelName = (typeof channelNames)[number];

/** How a stored rule, budget or report notifies. */
export const notifyingMembers = {
  channels: z.array(z.enum(channelNames)),
  /** URL and signing secret of the channel `webhook`. */
  webhook: z.nullable(z.object({ url: z.string(), secret: z.string() })),
  /** URLs and keys of the other channels: secrets. Absent where there are none. */
  targets: z.optional(z.partialRecord(z.enum(targetNames), z.string())),
};
