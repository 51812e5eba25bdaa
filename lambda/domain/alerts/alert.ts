import * as z from 'zod/mini';
import { anyPeriodNames } from '../calendar/periods.ts';
import { budgetEvents } from '../limits/evaluator.ts';
import { channelNames, ruleTypes } from '../limits/rule.ts';
import { splitNames } from '../limits/spend-series.ts';

/** The rule types, and the alert about a plan's limit of tracked requests, which has no rule. */
const alertTypes = [...ruleTypes, 'budget', 'plan_usage'] as const;

const instant = z.iso.datetime();

/** One value of one dimension, and its share of the figure. */
const contributorSchema = z.object({
  dimension: z.enum(['provider', 'model', 'tag', 'key']),
  /** Null for requests without one. */
  value: z.nullable(z.string()),
  /** The name of a service key; null for other dimensions. */
  label: z.nullable(z.string()),
  /** 0 to 1. */
  share: z.number().check(z.minimum(0), z.maximum(1)),
});
export type Contributor = z.infer<typeof contributorSchema>;

export const deliverySchema = z.object({
  channel: z.enum(channelNames),
  status: z.enum(['pending', 'sent', 'failed']),
  attempts: z.int().check(z.nonnegative()),
  lastAttemptAt: z.nullable(instant),
  sentAt: z.nullable(instant),
  /** Why the last attempt failed, or who did not get it. */
  error: z.nullable(z.string()),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** An alert of a rule for one period, or about the plan. */
export const alertSchema = z.object({
  alertId: z.string(),
  accountId: z.string(),
  /** Null for an alert about the plan. */
  ruleId: z.nullable(z.string()),
  ruleName: z.string(),
  type: z.enum(alertTypes),
  /** Null for other types than budgets, and for alerts of version 0.1. */
  event: z._default(z.nullable(z.enum(budgetEvents)), null),
  /** The percentage that a budget reached. */
  percent: z.optional(z.int()),
  /** The value that it is about, of a rule that judges values: its dimension, and a label where that is a name. */
  of: z.optional(z.object({ dimension: z.enum(splitNames), value: z.string(), label: z.nullable(z.string()) })),
  status: z.enum(['triggered', 'acknowledged']),
  triggeredAt: instant,
  acknowledgedAt: z.nullable(instant),
  /** User id. */
  acknowledgedBy: z.nullable(z.string()),
  period: z.object({ name: z.enum(anyPeriodNames), start: instant, end: instant }),
  unit: z.enum(['nanoUsd', 'percent', 'requests']),
  figure: z.number(),
  limit: z.number(),
  unpricedRequests: z.int().check(z.nonnegative()),
  /** Requests that may match the rule's filter and are not in `figure`, from before the rule. Absent where there are none. */
  mayAlsoMatch: z.optional(
    z.object({
      requests: z.int().check(z.nonnegative()),
      costNanoUsd: z.nullable(z.int().check(z.nonnegative())),
      /** Those whose cost is unknown. */
      unpricedRequests: z._default(z.int().check(z.nonnegative()), 0),
    }),
  ),
  summary: z.string(),
  contributors: z.array(contributorSchema),
  deliveries: z.array(deliverySchema),
});
export type Alert = z.infer<typeof alertSchema>;

/** Deliveries on channels before the first attempt. */
export const pendingDeliveries = (channels: readonly Delivery['channel'][]): Delivery[] =>
  channels.map((channel) => ({
    channel,
    status: 'pending',
    attempts: 0,
    lastAttemptAt: null,
    sentAt: null,
    error: null,
  }));

/** Deliveries after an alert is acknowledged: the incident that it opened in PagerDuty is still to be resolved. */
export const resolvingDeliveries = (deliveries: readonly Delivery[]): Delivery[] =>
  deliveries.map((delivery) =>
    delivery.channel === 'pagerduty' && delivery.status === 'sent'
      ? { ...delivery, status: 'pending', attempts: 0, error: null }
      : delivery,
  );

/** An alert at the moment at which it is triggered, to be delivered on channels. */
export const triggeredAlert = (
  facts: Omit<Alert, 'status' | 'acknowledgedAt' | 'acknowledgedBy' | 'deliveries'>,
  channels: readonly Delivery['channel'][],
): Alert => ({
  ...facts,
  status: 'triggered',
  acknowledgedAt: null,
  acknowledgedBy: null,
  deliveries: pendingDeliveries(channels),
});
