import * as z from 'zod/mini';
import { budgetForecast } from './budget-forecast.ts';
import { costThreshold } from './cost-threshold.ts';
import { errorRate } from './error-rate.ts';
import type { Evaluator } from './evaluator.ts';
import { spendAnomaly } from './spend-anomaly.ts';
import { unpricedUsage } from './unpriced-usage.ts';

/** Every type of rule there is: a new type is a new row. */
const evaluators = {
  cost_threshold: costThreshold,
  spend_anomaly: spendAnomaly,
  budget_forecast: budgetForecast,
  error_rate: errorRate,
  unpriced_usage: unpricedUsage,
} as const;

export type RuleType = keyof typeof evaluators;
export const ruleTypes = Object.keys(evaluators) as [RuleType, ...RuleType[]];

/** A rule's type and the config that goes with it, together with other members. */
export const withCondition = <S extends z.core.$ZodShape>(members: S) => {
  const row = <T extends RuleType>(type: T) =>
    z.strictObject({ type: z.literal(type), config: evaluators[type].configSchema, ...members });
  return z.discriminatedUnion('type', [
    row('cost_threshold'),
    row('spend_anomaly'),
    row('budget_forecast'),
    row('error_rate'),
    row('unpriced_usage'),
  ]);
};

/** When a rule fires: its type, and the config that goes with it. */
export const ruleConditionSchema = withCondition({});

export type RuleCondition = z.infer<typeof ruleConditionSchema>;

/** An evaluator with its config filled in. */
export type BoundEvaluator = ReturnType<typeof bind>;

const bind = <C>({ periodOf, filterOf, lookbackDays, judge, drivenBy }: Evaluator<C>, config: C) => ({
  period: periodOf(config),
  filter: filterOf(config),
  lookbackDays: lookbackDays(config),
  judge: (judged: Parameters<typeof judge>[1]) => judge(config, judged),
  drivenBy,
});

/** What a condition looks at, and how it judges. */
export const evaluatorOf = ({ type, config }: RuleCondition): BoundEvaluator =>
  bind(evaluators[type] as Evaluator<unknown>, config);

export const channelNames = ['email', 'webhook'] as const;
export type ChannelName = (typeof channelNames)[number];
