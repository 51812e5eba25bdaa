import type * as z from 'zod/mini';
import type { Period, PeriodName } from '../calendar/periods.ts';
import type { ruleFilter } from './config-members.ts';
import type { SpendSeries } from './spend-series.ts';

/** What a budget fires for, each once in a month. */
export const budgetEvents = ['forecast', 'used_up'] as const;
export type BudgetEvent = (typeof budgetEvents)[number];

/** What a rule observed in a period, and its limit, both in `unit`. */
export interface Observation {
  readonly exceeded: boolean;
  /** Of budgets only. */
  readonly event?: BudgetEvent;
  readonly unit: 'nanoUsd' | 'percent' | 'requests';
  readonly observed: number;
  readonly limit: number;
  /** Requests whose cost is unknown: an observed cost leaves them out. */
  readonly unpricedRequests: number;
  /** What happened, and by how much, for people. */
  readonly summary: string;
}

/** A period for which a rule fired: its start, for a budget that is used up with the event. */
export const firingName = ({ start }: Period, event: BudgetEvent | null | undefined): string =>
  event === 'used_up' ? `${start}#${event}` : start;

/** True where a rule has fired for this already. A budget that was used up once is not forecast any more. */
export const hasFired = (fired: readonly string[], period: Period, event: BudgetEvent | undefined): boolean =>
  fired.includes(firingName(period, event)) || fired.includes(firingName(period, 'used_up'));

export interface JudgedPeriod {
  readonly period: Period;
  readonly now: Date;
  readonly series: SpendSeries;
}

/** One type of rule. */
export interface Evaluator<Config> {
  readonly configSchema: z.ZodMiniType<Config>;
  readonly periodOf: (config: Config) => PeriodName;
  readonly filterOf: (config: Config) => z.infer<typeof ruleFilter>;
  /** Days before the period's start that it also reads. */
  readonly lookbackDays: (config: Config) => number;
  /** Null when there is too little to judge by. */
  readonly judge: (config: Config, judged: JudgedPeriod) => Observation | null;
  /** The measure by which drivers are ranked. */
  readonly drivenBy: 'cost' | 'errors' | 'unpricedRequests';
}
