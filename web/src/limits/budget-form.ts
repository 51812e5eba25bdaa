import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import type { Budget, NewBudget } from '../api/responses.ts';
import type { BodyOf } from '../forms/changes.ts';
import { required } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeProblems, scopeValuesOf } from '../scope/scope.ts';
import { type ChannelValues, channelProblems, channelsOf, channelValuesOf, mailOnly } from './channels.ts';

/** What the form holds. Numbers are text while they are typed. */
export interface BudgetValues extends ScopeValues, ChannelValues {
  readonly name: string;
  /** In USD for each period. */
  readonly amount: number | string;
  readonly period: PeriodName | 'fixed';
  /** First and last UTC day of a fixed period. */
  readonly from: string;
  readonly to: string;
  /** Percentages, separated by commas. */
  readonly notifyAt: string;
  readonly blocks: boolean;
  readonly atPercent: number | string;
  readonly enforcement: 'lagging' | 'reserved';
  readonly onUnavailable: 'pass' | 'stop';
  readonly unknownCost: 'ignore' | 'block' | 'count';
  /** In USD, where requests of unknown cost count as an amount. */
  readonly countAs: number | string;
  readonly showRemaining: boolean;
}

export const emptyBudget: BudgetValues = {
  ...scopeValuesOf(undefined),
  name: '',
  amount: 500,
  period: 'monthly',
  from: '',
  to: '',
  notifyAt: '80, 100',
  blocks: false,
  atPercent: 100,
  enforcement: 'lagging',
  onUnavailable: 'pass',
  unknownCost: 'ignore',
  countAs: 0.01,
  showRemaining: false,
  ...mailOnly,
};

/** A stored budget as the form holds it. */
export const valuesOf = (budget: Budget): BudgetValues => {
  const { name, amount, period, notifyAt, block, unknownCost, showRemaining } = budget;
  return {
    ...emptyBudget,
    ...scopeValuesOf(budget.filter),
    name,
    amount,
    ...(typeof period === 'string' ? { period } : { period: 'fixed', ...period }),
    notifyAt: notifyAt.join(', '),
    ...(block && { blocks: true, ...block }),
    ...(typeof unknownCost === 'string' ? { unknownCost } : { unknownCost: 'count', countAs: unknownCost.countAsUsd }),
    showRemaining,
    ...channelValuesOf(budget),
  };
};

/** `80, 100 %` as numbers; a text that is no number is NaN. */
const percentsOf = (text: string): number[] =>
  text
    .split(/[,;\s%]+/)
    .filter((part) => part !== '')
    .map(Number);

/** The budget as the API takes it. */
export const bodyOf = (values: BudgetValues) => {
  const { name, amount, period, from, to, notifyAt, blocks, unknownCost, countAs } = values;
  const { atPercent, enforcement, onUnavailable } = values;
  return {
    name: name.trim(),
    amount: Number(amount),
    period: period === 'fixed' ? { from, to } : period,
    notifyAt: percentsOf(notifyAt),
    block: blocks ? { atPercent: Number(atPercent), enforcement, onUnavailable } : null,
    unknownCost: unknownCost === 'count' ? { countAsUsd: Number(countAs) } : unknownCost,
    showRemaining: values.showRemaining,
    filter: scopeOf(values),
    ...channelsOf(values),
  } satisfies BodyOf<NewBudget>;
};

const dollarProblem = (value: number | string) =>
  Number(value) >= 0.000001 && Number(value) <= 9_000_000 ? null : 'From $0.000001 to $9,000,000.';
const isWhole = (value: number, least: number) => Number.isInteger(value) && value >= least && value <= 1000;

/** What is wrong with the values, by member of the form. */
export const budgetProblems = (values: BudgetValues): Record<string, string | null> => {
  const { name, amount, period, from, to, notifyAt, blocks, atPercent, unknownCost, countAs } = values;
  const percents = percentsOf(notifyAt);
  return {
    ...scopeProblems(values),
    ...channelProblems(values),
    name: required('A name')(name),
    amount: dollarProblem(amount),
    from: period === 'fixed' && from === '' ? 'A day.' : null,
    to: period !== 'fixed' ? null : to === '' ? 'A day.' : to < from ? 'Not before the first day.' : null,
    notifyAt: percents.every((each) => isWhole(each, 1))
      ? percents.length > 8
        ? 'Eight at most.'
        : null
      : 'Whole percentages, such as 50, 80, 100.',
    atPercent: blocks && !isWhole(Number(atPercent), 100) ? 'A whole percentage from 100 to 1,000.' : null,
    countAs: unknownCost === 'count' ? dollarProblem(countAs) : null,
  };
};
