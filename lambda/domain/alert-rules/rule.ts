import * as z from 'zod/mini';
import { budgetForecast } from './budget-forecast.ts';
import { ruleFilterOf } from './config-members.ts';
import { costThreshold } from './cost-threshold.ts';
import { errorRate } from './error-rate.ts';
import type { Evaluator } from './evaluator.ts';
import { spendAnomaly } from './spend-anomaly.ts';
import { unpricedUsage } from './unpriced-usage.ts';

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
} as const;

export type RuleType = keyof typeof evaluators;
export const ruleTypes = Object.keys(evaluators) as [RuleType, ...RuleType[]];

/** Schema of a rule's type, the config of that type, and the given members. */
export const withCondition = <S extends z.core.$ZodShape>(members: S) => {
  const schemaOf = <T extends RuleType>(type: T) =>
    z.strictObject({ type: z.literal(type), config: evaluators[type].configSchema, ...members });
  type SchemaOf = { [T in RuleType]: ReturnType<typeof schemaOf<T>> };
  return z.discriminatedUnion('type', ruleTypes.map(schemaOf) as [SchemaOf[RuleType], ...SchemaOf[RuleType][]]);
};

/** When a rule fires: its type, and the config of that type. */
export const ruleConditionSchema = withCondition({});

export type RuleCondition = z.infer<typeof ruleConditionSchema>;

/** An evaluator with its config filled in. */
export type BoundEvaluator = ReturnType<typeof bind>;

const bind = <C>({ periodOf, filterOf, lookbackDays, judge, drivenBy }: Evaluator<C>, config: C) => {
  const period = periodOf(config);
  const filter = filterOf(config);
  return {
    period,
    /** What spend is read by. Only hourly rules need hours; days are rolled up once they are over. */
    granularity: period === 'hourly' ? ('hour' as const) : ('day' as const),
    filter: filter && ruleFilterOf(filter),
    lookbackDays: lookbackDays(config),
    judge: (judged: Parameters<typeof judge>[1]) => judge(config, judged),
    drivenBy,
  };
};

/** The evaluator of a condition's type, with the condition's config. */
export const evaluatorOf = ({ type, config }: RuleCondition): BoundEvaluator =>
  bind(evaluators[type] as Evaluator<unknown>, config);

export const channelNames = ['email', 'webhook'] as const;
export type ChannelName = (typeof channelNames)[number];
