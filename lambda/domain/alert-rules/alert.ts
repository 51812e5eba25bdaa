import * as z from 'zod/mini';
import { periodNames } from '../calendar/periods.ts';
import { channelNames, ruleTypes } from './rule.ts';

/** What tells of an alert besides rules: the plan's limit of tracked requests. */
const alertTypes = [...ruleTypes, 'plan_usage'] as const;

const instant = z.iso.datetime();

/** One value of one dimension, and how much of what was observed it stands for. */
const driverSchema = z.object({
  dimension: z.enum(['provider', 'model', 'tag', 'key']),
  /** Null: requests that have none. */
  value: z.nullable(z.string()),
  /** The name of a key. */
  label: z.nullable(z.string()),
  /** Share of the whole, 0 to 1. */
  share: z.number().check(z.minimum(0), z.maximum(1)),
});
export type Driver = z.infer<typeof driverSchema>;

const deliverySchema = z.object({
  channel: z.enum(channelNames),
  status: z.enum(['pending', 'sent', 'failed']),
  attempts: z.int().check(z.nonnegative()),
  lastAttemptAt: z.nullable(instant),
  sentAt: z.nullable(instant),
  /** What went wrong at the last attempt, in a few words. */
  error: z.nullable(z.string()),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** A rule that fired, for one period. */
export const alertSchema = z.object({
  alertId: z.string(),
  accountId: z.string(),
  /** Null where it is not a rule's. */
  ruleId: z.nullable(z.string()),
  ruleName: z.string(),
  type: z.enum(alertTypes),
  status: z.enum(['triggered', 'acknowledged']),
  triggeredAt: instant,
  acknowledgedAt: z.nullable(instant),
  /** User id. */
  acknowledgedBy: z.nullable(z.string()),
  period: z.object({ name: z.enum(periodNames), start: instant, end: instant }),
  unit: z.enum(['nanoUsd', 'percent', 'requests']),
  observed: z.number(),
  limit: z.number(),
  unpricedRequests: z.int().check(z.nonnegative()),
  summary: z.string(),
  drivers: z.array(driverSchema),
  deliveries: z.array(deliverySchema),
});
export type Alert = z.infer<typeof alertSchema>;
