import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import type { RuleType } from '../../../lambda/domain/limits/rule.ts';
import type { Alert } from '../api/responses.ts';
import { formatLimit, formatMoney, formatPercent, plural } from '../format/numbers.ts';

export type LimitType = RuleType | 'budget';

/** A calendar period, or the days that a budget is for. */
export type LimitPeriod = PeriodName | 'fixed';

/** The numbers that limits have: in USD, percent or requests, by type and measure. Text while they are typed. */
export interface LimitNumbers
  extends Readonly<
    Record<'amount' | 'threshold' | 'limit' | 'budget' | 'factor' | 'minimum' | 'minimumRequests', number | string>
  > {
  /** Whether a rule about runaways counts USD or requests. */
  readonly measure: 'cost' | 'requests';
}

/** A number of a limit, as the form shows it. Its bounds are those of the API's schema. */
interface NumberField {
  readonly member: Exclude<keyof LimitNumbers, 'measure'>;
  readonly label: string;
  readonly description?: string;
  /** A new one starts with it. */
  readonly initial: number;
  readonly input: NumberFormat;
}

interface NumberFormat {
  readonly prefix?: string;
  readonly suffix?: string;
  readonly step?: number;
  readonly decimalScale?: number;
  readonly allowDecimal?: boolean;
  readonly thousandSeparator?: boolean;
}

interface LimitTypeRow {
  readonly name: string;
  /** When an alert of this type is sent. */
  readonly what: string;
  /** The periods to choose from. A single one is fixed, and not part of the config. */
  readonly periods: readonly LimitPeriod[];
  readonly fields: readonly NumberField[];
  /** The limit in words; `each` is a period such as `a day`. */
  readonly sentence: (numbers: LimitNumbers, each: string) => string;
  /** The bars of the backtest show it. */
  readonly bars: string;
  readonly isForecast?: true;
}

/** Down to a millionth of a dollar, as the API does. */
export const dollars: NumberFormat = { prefix: '$', decimalScale: 6, thousandSeparator: true };
const requests: NumberFormat = { allowDecimal: false, thousandSeparator: true };
const factor: NumberFormat = { step: 0.5, decimalScale: 2 };

const field = (
  member: NumberField['member'],
  label: string,
  initial: number,
  input: NumberFormat,
  description?: string,
): NumberField => ({ member, label, initial, input, ...(description !== undefined && { description }) });

/** Everything the pages know of a type of limit. A new type is a new row. */
export const limitTypes: Readonly<Record<LimitType, LimitTypeRow>> = {
  cost_threshold: {
    name: 'Spend limit',
    what: 'Spend in a period reaches an amount.',
    periods: ['hourly', 'daily', 'weekly', 'monthly'],
    fields: [field('threshold', 'Limit', 50, dollars)],
    sentence: ({ threshold }, each) => `${formatLimit(threshold)} or more ${each}`,
    bars: 'spend since its period began',
  },
  budget: {
    name: 'Budget',
    what: 'An amount for a period: it warns at percentages, and refuses requests when it is used up if you want.',
    periods: ['hourly', 'daily', 'weekly', 'monthly', 'fixed'],
    fields: [field('amount', 'Amount', 500, dollars)],
    sentence: ({ amount }, each) => `${formatLimit(amount)} ${each}`,
    bars: 'spend since its period began',
  },
  spend_anomaly: {
    name: 'Unusual spend',
    what: 'A period costs many times what recent periods did.',
    periods: ['daily', 'weekly'],
    fields: [
      field('factor', 'Times the usual', 3, factor, 'The median of recent periods'),
      field('minimum', 'But at least', 1, dollars, 'Below it, nothing is unusual'),
    ],
    sentence: ({ factor, minimum }, each) =>
      `${factor} times the usual spend in ${each}, and at least ${formatLimit(minimum)}`,
    bars: 'spend since its period began',
  },
  burn_rate: {
    name: 'Runaway',
    what: 'One key, tag, project or session spends too much within an hour: it can be paused.',
    periods: ['hourly'],
    fields: [
      field('limit', 'Limit an hour', 50, dollars, 'Empty: only by the usual'),
      field('factor', 'Or times the usual', 3, factor, 'The usual busiest hour. Empty: only by the limit'),
      field('minimum', 'But at least', 5, dollars, 'Below it, nothing is unusual'),
    ],
    sentence: ({ limit, factor, measure }) => {
      const [does, most] =
        measure === 'cost' ? ['spends', formatLimit(limit)] : ['sends', plural(Number(limit), 'request')];
      return [
        ...(limit === '' ? [] : [`One of them ${does} ${most} or more within an hour`]),
        ...(factor === '' ? [] : [`${limit === '' ? `One of them ${does}` : ''} ${factor} times its usual hour`]),
      ].join(', or');
    },
    bars: 'the most that one of them spent in an hour',
  },
  budget_forecast: {
    name: 'Budget forecast',
    what: 'At the rate of the last week, the month will exceed its budget; and again when it is used up.',
    periods: ['monthly'],
    fields: [field('budget', 'Budget a month', 1000, dollars)],
    sentence: ({ budget }) => `A forecast of more than ${formatLimit(budget)} for the month`,
    bars: 'the forecast for the month, as of each day',
    isForecast: true,
  },
  error_rate: {
    name: 'Failing requests',
    what: 'Too many requests fail or are interrupted.',
    periods: ['hourly', 'daily'],
    fields: [
      field('threshold', 'Failing share', 10, { suffix: '%', decimalScale: 2 }),
      field('minimumRequests', 'At least', 20, { ...requests, suffix: ' requests' }),
    ],
    sentence: ({ threshold, minimumRequests }, each) =>
      `${formatPercent(Number(threshold))} or more of at least ${minimumRequests} requests fail within ${each}`,
    bars: 'the share of requests that failed',
  },
  unpriced_usage: {
    name: 'Unknown cost',
    what: 'The cost of requests is unknown: spend is higher than shown.',
    periods: ['hourly', 'daily', 'weekly'],
    fields: [field('threshold', 'Requests of unknown cost', 1, requests)],
    sentence: ({ threshold }, each) => `${threshold} or more requests of unknown cost ${each}`,
    bars: 'requests of unknown cost since its period began',
  },
};

/** The types with their rows, in the order of the form. */
export const limitTypeList = (Object.keys(limitTypes) as LimitType[]).map((type) => ({ type, ...limitTypes[type] }));

export const periodLabels: Readonly<Record<LimitPeriod, string>> = {
  hourly: 'Hour',
  daily: 'Day',
  weekly: 'Week',
  monthly: 'Month',
  fixed: 'Days',
};

/** The figure of an alert, or its limit, in its unit. A forecast is not known to the cent. */
export const formatFigure = (unit: Alert['unit'], amount: number, isForecast = false): string => {
  if (unit === 'nanoUsd') return isForecast ? `≈ ${formatMoney(amount, 'rough')}` : formatMoney(amount);
  return unit === 'percent' ? formatPercent(amount) : plural(amount, 'request');
};
