import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import type { RuleType } from '../../../lambda/domain/limits/rule.ts';
import type { Alert } from '../api/responses.ts';
import { locale } from '../format/locale.ts';
import { formatMoney, formatRoughMoney } from '../format/money.ts';
import { formatPercent, plural } from '../format/quantity.ts';

/** The numbers that the configs of rules have: in USD, percent or requests, by type and measure. Text while it is typed. */
export interface RuleNumbers {
  readonly threshold: number | string;
  readonly limit: number | string;
  readonly budget: number | string;
  readonly factor: number | string;
  readonly minimum: number | string;
  readonly minimumRequests: number | string;
  /** Whether a rule about runaways counts USD or requests. */
  readonly measure: 'cost' | 'requests';
}

/** A number of a rule's config, as the form shows it. */
interface NumberField {
  readonly member: Exclude<keyof RuleNumbers, 'measure'>;
  readonly label: string;
  readonly description?: string;
  /** What a new rule starts with. */
  readonly initial: number;
  /** How the number is typed: prefix or suffix, limits, decimals. */
  readonly input: {
    readonly prefix?: string;
    readonly suffix?: string;
    readonly min: number;
    readonly max?: number;
    readonly step?: number;
    readonly decimalScale?: number;
    readonly allowDecimal?: boolean;
    readonly thousandSeparator?: boolean;
  };
  /** What is wrong with a value, or null. */
  readonly problem: (value: number | string) => string | null;
}

interface RuleTypeRow {
  readonly name: string;
  /** When a rule of this type fires. */
  readonly what: string;
  /** The periods to choose from. A single one is fixed, and not part of the config. */
  readonly periods: readonly PeriodName[];
  readonly fields: readonly NumberField[];
  /** The rule in words; `each` is a period such as `a day`. */
  readonly sentence: (numbers: RuleNumbers, each: string) => string;
  /** What the bars of the backtest show. */
  readonly bars: string;
  readonly isForecast?: true;
}

/** Down to a millionth of a dollar, as the API does. */
const dollars = { prefix: '$', min: 0.000001, decimalScale: 6, thousandSeparator: true } as const;
const requests = { min: 1, allowDecimal: false, thousandSeparator: true } as const;

const positive = (what: string) => (value: number | string) =>
  Number(value) > 0 ? null : `${what} must be more than 0.`;
const aboveOne = (value: number | string) => (Number(value) > 1 ? null : 'Must be more than 1.');
const ifGiven =
  (problem: (value: number | string) => string | null) =>
  (value: number | string): string | null =>
    value === '' ? null : problem(value);
const wholeFromOne = (value: number | string) =>
  Number.isInteger(Number(value)) && Number(value) >= 1 ? null : 'A whole number from 1.';

const usd = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
  minimumFractionDigits: 0,
});
const formatUsd = (amount: number | string): string => usd.format(Number(amount));

/** Everything the pages know of a type of rule. A new type is a new row. */
export const ruleTypes: Readonly<Record<RuleType, RuleTypeRow>> = {
  cost_threshold: {
    name: 'Spend limit',
    what: 'Spend in a period reaches an amount.',
    periods: ['hourly', 'daily', 'weekly', 'monthly'],
    fields: [{ member: 'threshold', label: 'Limit', initial: 50, input: dollars, problem: positive('The limit') }],
    sentence: ({ threshold }, each) => `${formatUsd(threshold)} or more ${each}`,
    bars: 'spend since its period began',
  },
  spend_anomaly: {
    name: 'Unusual spend',
    what: 'A period costs many times what recent periods did.',
    periods: ['daily', 'weekly'],
    fields: [
      {
        member: 'factor',
        label: 'Times the usual',
        description: 'The median of recent periods',
        initial: 3,
        input: { min: 1.1, max: 1000, step: 0.5, decimalScale: 2 },
        problem: aboveOne,
      },
      {
        member: 'minimum',
        label: 'But at least',
        description: 'Below it, nothing is unusual',
        initial: 1,
        input: dollars,
        problem: positive('The minimum'),
      },
    ],
    sentence: ({ factor, minimum }, each) =>
      `${factor} times the usual spend in ${each}, and at least ${formatUsd(minimum)}`,
    bars: 'spend since its period began',
  },
  burn_rate: {
    name: 'Runaway',
    what: 'One key, tag, project or session spends too much within an hour: it can be paused.',
    periods: ['hourly'],
    fields: [
      {
        member: 'limit',
        label: 'Limit an hour',
        description: 'Empty: only by the usual',
        initial: 50,
        input: dollars,
        problem: ifGiven(positive('The limit')),
      },
      {
        member: 'factor',
        label: 'Or times the usual',
        description: 'The usual busiest hour. Empty: only by the limit',
        initial: 3,
        input: { min: 1.1, max: 1000, step: 0.5, decimalScale: 2 },
        problem: ifGiven(aboveOne),
      },
      {
        member: 'minimum',
        label: 'But at least',
        description: 'Below it, nothing is unusual',
        initial: 5,
        input: dollars,
        problem: positive('The minimum'),
      },
    ],
    sentence: ({ limit, factor, measure }) => {
      const [does, most] =
        measure === 'cost' ? ['spends', formatUsd(limit)] : ['sends', plural(Number(limit), 'request')];
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
    fields: [
      { member: 'budget', label: 'Budget a month', initial: 1000, input: dollars, problem: positive('The budget') },
    ],
    sentence: ({ budget }) => `The month is heading past ${formatUsd(budget)}`,
    bars: 'the forecast for the month, as of each day',
    isForecast: true,
  },
  error_rate: {
    name: 'Failing requests',
    what: 'Too many requests fail or are interrupted.',
    periods: ['hourly', 'daily'],
    fields: [
      {
        member: 'threshold',
        label: 'Failing share',
        initial: 10,
        input: { suffix: '%', min: 0.01, max: 100, decimalScale: 2 },
        problem: positive('The limit'),
      },
      {
        member: 'minimumRequests',
        label: 'At least',
        initial: 20,
        input: { ...requests, suffix: ' requests' },
        problem: wholeFromOne,
      },
    ],
    sentence: ({ threshold, minimumRequests }, each) =>
      `${formatPercent(Number(threshold))} or more of at least ${minimumRequests} requests fail within ${each}`,
    bars: 'the share of requests that failed',
  },
  unpriced_usage: {
    name: 'Unknown cost',
    what: 'The cost of requests is unknown: spend is higher than shown.',
    periods: ['hourly', 'daily', 'weekly'],
    fields: [
      {
        member: 'threshold',
        label: 'Requests of unknown cost',
        initial: 1,
        input: requests,
        problem: positive('The limit'),
      },
    ],
    sentence: ({ threshold }, each) => `${threshold} or more requests of unknown cost ${each}`,
    bars: 'requests of unknown cost since its period began',
  },
};

/** The types with their rows, in the order of the form. */
export const ruleTypeList = (Object.keys(ruleTypes) as RuleType[]).map((type) => ({ type, ...ruleTypes[type] }));

export const periodLabels: Readonly<Record<PeriodName, string>> = {
  hourly: 'Hour',
  daily: 'Day',
  weekly: 'Week',
  monthly: 'Month',
};

/** The figure of an alert, or its limit, in its unit. A forecast is not known to the cent. */
export const formatFigure = (unit: Alert['unit'], amount: number, isForecast = false): string => {
  if (unit === 'nanoUsd') return isForecast ? `≈ ${formatRoughMoney(amount)}` : formatMoney(amount);
  return unit === 'percent' ? formatPercent(amount) : plural(amount, 'request');
};
