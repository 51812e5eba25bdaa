import type * as z from 'zod/mini';
import type { Period, PeriodName } from '../calendar/periods.ts';
import type { RuleFilter, SpendSeries } from './spend-series.ts';

/** What a rule saw in a period, against its limit, both in `unit`. */
export interface Observation {
  readonly exceeded: boolean;
  readonly unit: 'nanoUsd' | 'percent' | 'requests';
  readonly observed: number;
  readonly limit: number;
  /** Requests whose cost is unknown: a cost observed leaves them out. */
  readonly unpricedRequests: number;
  /** One sentence: what happened, by how much. */
  readonly summary: string;
}

export interface JudgedPeriod {
  readonly period: Period;
  /** Before the period's end while it runs; then it is its end. */
  readonly now: Date;
  readonly series: SpendSeries;
}

/** One type of rule. */
export interface Evaluator<Config> {
  readonly configSchema: z.ZodMiniType<Config>;
  readonly periodOf: (config: Config) => PeriodName;
  readonly filterOf: (config: Config) => RuleFilter | undefined;
  /** Days before the period's start that it compares with. */
  readonly lookbackDays: (config: Config) => number;
  /** Null where there is too little to judge by. */
  readonly judge: (config: Config, judged: JudgedPeriod) => Observation | null;
  /** What most of it came from is measured in this. */
  readonly drivenBy: 'cost' | 'errors' | 'unpricedRequests';
}
