import { required } from '../account/fields.ts';
import type { AlertRule, NewAlertRule } from '../api/responses.ts';
import type { RuleType } from './search.ts';

export type Period = 'hourly' | 'daily' | 'weekly' | 'monthly';

/** What the form holds: the members of every type of rule side by side, of which a rule takes its own. */
export interface RuleValues {
  readonly type: RuleType;
  readonly name: string;
  readonly period: Period;
  /** In USD, percent or requests, by type. */
  readonly threshold: number | string;
  readonly budget: number | string;
  readonly factor: number | string;
  readonly minimum: number | string;
  readonly minimumRequests: number | string;
  readonly provider: string;
  readonly model: string;
  readonly tag: string;
  readonly channels: readonly ('email' | 'webhook')[];
  readonly webhookUrl: string;
  readonly isActive: boolean;
}

/** What each type is for, and the periods it knows. */
export const ruleTypes: Readonly<
  Record<RuleType, { readonly name: string; readonly what: string; readonly periods: readonly Period[] }>
> = {
  cost_threshold: {
    name: 'Spend limit',
    what: 'Spend of a period reaches an amount.',
    periods: ['hourly', 'daily', 'weekly', 'monthly'],
  },
  spend_anomaly: {
    name: 'Unusual spend',
    what: 'A period costs many times what such periods did of late.',
    periods: ['daily', 'weekly'],
  },
  budget_forecast: {
    name: 'Budget forecast',
    what: 'At the rate of the last week, the month will pass its budget.',
    periods: ['monthly'],
  },
  error_rate: {
    name: 'Failing requests',
    what: 'Providers refuse, fail or break off too many requests.',
    periods: ['hourly', 'daily'],
  },
  unpriced_usage: {
    name: 'Unknown cost',
    what: 'Requests whose cost is not known: spend is higher than it shows.',
    periods: ['hourly', 'daily', 'weekly'],
  },
};

export const periodNames: Readonly<Record<Period, string>> = {
  hourly: 'Hour',
  daily: 'Day',
  weekly: 'Week',
  monthly: 'Month',
};

export const emptyRule = (type: RuleType): RuleValues => ({
  type,
  name: '',
  period: ruleTypes[type].periods.includes('daily') ? 'daily' : (ruleTypes[type].periods[0] as Period),
  threshold: { cost_threshold: 50, error_rate: 10, unpriced_usage: 1, spend_anomaly: '', budget_forecast: '' }[type],
  budget: 1000,
  factor: 3,
  minimum: 1,
  minimumRequests: 20,
  provider: '',
  model: '',
  tag: '',
  channels: ['email'],
  webhookUrl: '',
  isActive: true,
});

const record = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** A stored rule as the form holds it. */
export const valuesOf = ({ type, name, config, channels, webhookUrl, isActive }: AlertRule): RuleValues => {
  const filter = record(config['filter']);
  const base = emptyRule(type);
  const number = (key: keyof RuleValues) =>
    typeof config[key] === 'number' ? (config[key] as number) : (base[key] as number | string);
  return {
    ...base,
    name,
    period: (textOf(config['period']) || base.period) as Period,
    threshold: number('threshold'),
    budget: number('budget'),
    factor: number('factor'),
    minimum: number('minimum'),
    minimumRequests: number('minimumRequests'),
    provider: textOf(filter['provider']),
    model: textOf(filter['model']),
    tag: textOf(filter['tag']),
    channels,
    webhookUrl: webhookUrl ?? '',
    isActive,
  };
};

export const filterOf = ({ provider, model, tag }: Pick<RuleValues, 'provider' | 'model' | 'tag'>) => {
  const members = Object.entries({ provider, model: model.trim(), tag: tag.trim() }).filter(
    ([, value]) => value !== '',
  );
  return members.length === 0
    ? undefined
    : (Object.fromEntries(members) as { provider?: never; model?: string; tag?: string });
};

const memberNames = {
  cost_threshold: ['threshold', 'period'],
  spend_anomaly: ['period', 'factor', 'minimum'],
  budget_forecast: ['budget'],
  error_rate: ['threshold', 'period', 'minimumRequests'],
  unpriced_usage: ['threshold', 'period'],
} as const satisfies Record<RuleType, readonly (keyof RuleValues)[]>;

/** The members a type has, so that the form shows no others. */
export const hasMember = (type: RuleType, member: string): boolean =>
  (memberNames[type] as readonly string[]).includes(member);

/** The rule's config, with null where a filter is to be taken away from a stored one. */
export const configOf = (values: RuleValues) => {
  const filter = filterOf(values);
  return {
    ...Object.fromEntries(memberNames[values.type].map((member) => [member, values[member]])),
    ...(filter && { filter }),
  };
};

/** Type and config, as the API takes them. */
export const conditionOf = (values: RuleValues) =>
  ({ type: values.type, config: configOf(values) }) as unknown as Pick<NewAlertRule, 'type' | 'config'>;

const positive = (what: string) => (value: number | string) =>
  Number(value) > 0 ? null : `${what} must be more than 0.`;

/** What is wrong with the values, by member; members that the type does not have are right as they are. */
export const ruleProblems = (values: RuleValues): Record<string, string | null> => {
  const checks: Record<string, string | null> = {
    threshold: positive('The limit')(values.threshold),
    budget: positive('The budget')(values.budget),
    factor: Number(values.factor) > 1 ? null : 'Must be more than 1.',
    minimum: positive('The minimum')(values.minimum),
    minimumRequests:
      Number.isInteger(Number(values.minimumRequests)) && Number(values.minimumRequests) >= 1
        ? null
        : 'A whole number from 1.',
  };
  const own = Object.fromEntries(Object.entries(checks).filter(([member]) => hasMember(values.type, member)));
  const needsUrl = values.channels.includes('webhook') && !/^https:\/\/\S+\.\S+/.test(values.webhookUrl.trim());
  return {
    ...own,
    name: required('A name')(values.name),
    channels: values.channels.length === 0 ? 'At least one, or nobody hears of it.' : null,
    webhookUrl: needsUrl ? 'An https:// address.' : null,
  };
};

/** True where the condition is complete, whatever name and channels are. */
export const canPreview = (values: RuleValues): boolean => {
  const { name: _, channels: __, webhookUrl: ___, ...own } = ruleProblems(values);
  return Object.values(own).every((problem) => problem === null);
};
