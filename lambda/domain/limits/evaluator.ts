import type * as z from 'zod/mini';
import type { AnyPeriodName, Period } from '../calendar/periods.ts';
import type { ruleFilter } from './config-members.ts';
import type { Limit } from './limit.ts';
import type { SpendSeries, SplitName } from './spend-series.ts';

/** The events that a rule fires for more than once in a period: a forecast and a month that is used up, each once; a percentage that a budget reached. */
export const budgetEvents = ['forecast', 'used_up', 'reached'] as const;
export type BudgetEvent = (typeof budgetEvents)[number];

/** The reason for which a rule fired, or would fire. */
export interface AlertReason {
  readonly event?: BudgetEvent | null | undefined;
  /** The percentage, of `reached`. */
  readonly percent?: number | null | undefined;
  /** Only a rule that judges each value of a dimension on its own has it. */
  readonly of?: { readonly value: string } | null | undefined;
}

/** The figure of a rule in a period, and its limit, both in `unit`. */
export interface Judgement {
  readonly exceeded: boolean;
  /** Only budgets have it. */
  readonly event?: BudgetEvent;
  /** The highest percentage of the event `reached`. */
  readonly percent?: number;
  readonly unit: 'nanoUsd' | 'percent' | 'requests';
  readonly figure: number;
  readonly limit: number;
  /** The limit was made from it: the median of the periods before. */
  readonly usual?: number;
  /** The cost of the month at its rate, of a forecast: also where `figure` is what was spent. */
  readonly forecast?: number;
  /** Requests whose cost is unknown: a cost leaves them out. */
  readonly unpricedRequests: number;
  /** It says to people what happened, and by how much. */
  readonly summary: string;
}

/** The name that distinguishes the alerts of one period: empty for the first. */
export const eventName = ({ event, percent, of }: AlertReason): string => {
  if (of) return `of_${encodeURIComponent(of.value.toWellFormed())}`;
  return event === 'used_up' ? event : event === 'reached' ? `reached_${percent}` : '';
};

/** A period for which a rule fired: its start, with the event's name if that has one. */
export const alertName = ({ start }: Period, reason: AlertReason): string => {
  const name = eventName(reason);
  return name === '' ? start : `${start}#${name}`;
};

/** Orders judgements: furthest above its limit first. */
export const byExcess = (a: Judgement, b: Judgement): number => b.figure / b.limit - a.figure / a.limit;

/**
 * True where a rule has fired for this already. A budget that was used up once is not forecast any more, and one that reached a percentage
 * has reached those below.
 */
export const hasFired = (fired: readonly string[], period: Period, reason: AlertReason): boolean => {
  if (reason.event !== 'reached')
    return fired.includes(alertName(period, reason)) || fired.includes(alertName(period, { event: 'used_up' }));
  const prefix = `${period.start}#reached_`;
  return fired.some((name) => name.startsWith(prefix) && Number(name.slice(prefix.length)) >= (reason.percent ?? 0));
};

export interface JudgedPeriod {
  readonly period: Period;
  readonly now: Date;
  readonly series: SpendSeries;
  /** The usual figure of this value, of a rule that judges values. Null where it has too little history. */
  readonly usual?: number | null;
}

/** Every config may have a filter. */
export interface Filtered {
  readonly filter?: z.infer<typeof ruleFilter>;
}

/** One type of rule. */
export interface Evaluator<Config extends Filtered> {
  readonly configSchema: z.ZodMiniType<Config>;
  /** The limit that it compares spend with; absent where it compares something else. */
  readonly limitOf?: (config: Config) => Limit;
  readonly periodOf: (config: Config) => AnyPeriodName;
  /** The periods to judge now, latest first; undefined for those of its calendar period: see periodsToJudge. */
  readonly periodsOf?: (config: Config, now: Date, judgedUntil: Date) => Period[];
  /** Each value of this dimension is judged on its own; absent where all that the filter matches is judged together. */
  readonly splitBy?: (config: Config) => SplitName;
  /** Days before the period's start that it also reads; absent for none. */
  readonly lookbackDays?: (config: Config) => number;
  /** Null when there is too little to judge by. */
  readonly judge: (config: Config, judged: JudgedPeriod) => Judgement | null;
  /** The measure by which contributors are ranked; absent for the cost. */
  readonly rankedBy?: 'cost' | 'errors' | 'unpricedRequests';
}
