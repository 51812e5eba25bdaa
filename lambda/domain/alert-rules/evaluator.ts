import type * as z from 'zod/mini';
import type { Period, PeriodName } from '../calendar/periods.ts';
import type { RuleFilter, SpendSeries } from './spend-series.ts';

/** What a rule observed in a period, and its limit, both in `unit`. */
export interface Observation {
  readonly exceeded: boolean;
  readonly unit: 'nanoUsd' | 'percent' | 'requests';
  readonly observed: number;
  readonly limit: number;
  /** Requests whose cost is unknown: an observed cost leaves them out. */
  readonly unpricedRequests: number;
  /** What happened, and by how much, for people. */
  readonly summary: string;
}

export interface JudgedPeriod {
  readonly period: Period;
  /** The current time while the period lasts, its end afterwards. */
  readonly now: Date;
  readonly series: SpendSeries;
}

/** One type of rule. */
export interface Evaluator<Config> {
  readonly configSchema: z.ZodMiniType<Config>;
  readonly periodOf: (config: Config) => PeriodName;
  readonly filterOf: (config: Config) => RuleFilter | undefined;
  /** Days before the period's start that it also reads. */
  readonly lookbackDays: (config: Config) => number;
  /** Null when there is too little to judge by. */
  readonly judge: (config: Config, judged: JudgedPeriod) => Observation | null;
  /** The measure by which drivers are ranked. */
  readonly drivenBy: 'cost' | 'errors' | 'unpricedRequests';
}
