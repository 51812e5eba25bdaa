import type { RuleType } from '../../../lambda/domain/alert-rules/rule.ts';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { required } from '../account/fields.ts';
import type { AlertRule, NewAlertRule } from '../api/responses.ts';
import { type ChannelValues, channelProblems, channelValuesOf, mailOnly } from './channels.ts';
import { type FilterValues, filterOf, filterProblems, filterValuesOf } from './rule-filter.ts';
import { type RuleNumbers, ruleTypes } from './rule-types.ts';

/** What the form holds: the members of every type of rule. A rule has those of its own type. */
export interface RuleValues extends RuleNumbers, FilterValues, ChannelValues {
  readonly type: RuleType;
  /** Members of the config that the form does not show. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly period: PeriodName;
  readonly isActive: boolean;
}

export const hasPeriodChoice = (type: RuleType): boolean => ruleTypes[type].periods.length > 1;

export const emptyRule = (type: RuleType): RuleValues => {
  const { periods, fields, preset = {} } = ruleTypes[type];
  return {
    type,
    others: preset,
    name: '',
    period: periods.includes('daily') ? 'daily' : (periods[0] as PeriodName),
    threshold: '',
    limit: '',
    budget: '',
    factor: '',
    minimum: '',
    minimumRequests: '',
    ...Object.fromEntries(fields.map(({ member, initial }) => [member, initial])),
    ...filterValuesOf(undefined),
    ...mailOnly,
    isActive: true,
  };
};

/** A stored rule as the form holds it. */
export const valuesOf = (rule: AlertRule): RuleValues => {
  const { type, name, config, isActive } = rule;
  const base = emptyRule(type);
  const numbers = ruleTypes[type].fields.map(
    ({ member }) => [member, typeof config[member] === 'number' ? config[member] : ''] as const,
  );
  return {
    ...base,
    ...Object.fromEntries(numbers),
    others: Object.fromEntries(
      Object.keys(base.others).flatMap((member) => (member in config ? [[member, config[member]]] : [])),
    ),
    name,
    period: (config['period'] ?? base.period) as PeriodName,
    ...filterValuesOf(config['filter']),
    ...channelValuesOf(rule),
    isActive,
  };
};

/** A session has no history and no filter. */
export const isOfSessions = ({ type, others }: Pick<RuleValues, 'type' | 'others'>): boolean =>
  type === 'burn_rate' && others['each'] === 'session';

/** The numbers that the form shows for a rule. */
export const fieldsOf = (values: Pick<RuleValues, 'type' | 'others'>) =>
  ruleTypes[values.type].fields.filter(({ member }) => !isOfSessions(values) || member === 'limit');

/** The rule's config, as the API takes it. */
const configOf = (values: RuleValues) => {
  const filter = isOfSessions(values) ? undefined : filterOf(values);
  const numbers = fieldsOf(values).filter(({ member }) => values[member] !== '');
  return {
    ...values.others,
    ...Object.fromEntries(numbers.map(({ member }) => [member, values[member]])),
    ...(hasPeriodChoice(values.type) && { period: values.period }),
    ...(filter && { filter }),
  };
};

/** The config as a merge patch of the stored one: null removes what is not in the form, and what is the same is left out. */
export const configPatchOf = (values: RuleValues, stored: AlertRule['config']) => {
  const config: Record<string, unknown> = configOf(values);
  const removed = ruleTypes[values.type].fields.filter(({ member }) => member in stored && !(member in config));
  const changed = Object.entries(config).filter(
    ([member, value]) => JSON.stringify(value) !== JSON.stringify(stored[member]),
  );
  return { ...Object.fromEntries(removed.map(({ member }) => [member, null])), ...Object.fromEntries(changed) };
};

/** Type and config, as the API takes them. */
export const conditionOf = (values: RuleValues) =>
  ({ type: values.type, config: configOf(values) }) as unknown as Pick<NewAlertRule, 'type' | 'config'>;

const numberProblems = (values: RuleValues): Record<string, string | null> => {
  const problems = Object.fromEntries(
    fieldsOf(values).map(({ member, problem }) => [member, problem(values[member])] as const),
  );
  const isLimitless = values.limit === '' && (values.factor === '' || isOfSessions(values));
  return values.type === 'burn_rate' && isLimitless ? { ...problems, limit: 'A limit, or times the usual.' } : problems;
};

/** What is wrong with the values, by member of the form. */
export const ruleProblems = (values: RuleValues): Record<string, string | null> => ({
  ...numberProblems(values),
  ...filterProblems(values),
  ...channelProblems(values),
  name: required('A name')(values.name),
});

/** True where the condition is complete; name and channels do not matter. */
export const canPreview = (values: RuleValues): boolean =>
  filterProblems(values).tag === null && Object.values(numberProblems(values)).every((problem) => problem === null);
