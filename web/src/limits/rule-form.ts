import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import type { RuleType } from '../../../lambda/domain/limits/rule.ts';
import type { AlertRule, NewAlertRule } from '../api/responses.ts';
import { changesOf } from '../forms/changes.ts';
import { required } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeProblems, scopeValuesOf } from '../scope/scope.ts';
import { type ChannelValues, channelProblems, channelsOf, channelValuesOf, mailOnly } from './channels.ts';
import { type RuleNumbers, ruleTypes } from './rule-types.ts';

/** What the form holds: the members of every type of rule. A rule has those of its own type. */
export interface RuleValues extends RuleNumbers, ScopeValues, ChannelValues {
  readonly type: RuleType;
  readonly name: string;
  readonly period: PeriodName;
  readonly isActive: boolean;
  /** What a rule about runaways judges one by one, and for how long it pauses that; null: not at all. */
  readonly each: string;
  readonly pause: { readonly minutes: number | null } | null;
}

/** Members of a rule that the API replaces. */
export const WHOLE = ['pause'];

export const hasPeriodChoice = (type: RuleType): boolean => ruleTypes[type].periods.length > 1;

/** What a new rule of a type has of its own. */
const startOf = (type: RuleType) => {
  const { periods, fields } = ruleTypes[type];
  return {
    type,
    period: periods.includes('daily') ? 'daily' : (periods[0] as PeriodName),
    threshold: '',
    limit: '',
    budget: '',
    factor: '',
    minimum: '',
    minimumRequests: '',
    ...Object.fromEntries(fields.map(({ member, initial }) => [member, initial])),
  } as const;
};

export const emptyRule = (type: RuleType): RuleValues => ({
  ...startOf(type),
  name: '',
  each: 'key',
  measure: 'cost',
  pause: { minutes: 720 },
  ...scopeValuesOf(undefined),
  ...mailOnly,
  isActive: true,
});

/** The values as those of a rule of another type: only what a type has of its own begins anew. */
export const withType = (values: RuleValues, type: RuleType): RuleValues => ({ ...values, ...startOf(type) });

/** A stored rule as the form holds it. */
export const valuesOf = ({ type, name, config, isActive, ...channels }: AlertRule): RuleValues => {
  const base = emptyRule(type);
  const numbers = ruleTypes[type].fields.map(({ member }) => [member, config[member] ?? ''] as const);
  const { each = base.each, measure = base.measure, pause = null, period = base.period, filter } = config;
  return {
    ...base,
    ...Object.fromEntries(numbers),
    ...({ each, measure, pause, period } as Pick<RuleValues, 'each' | 'measure' | 'pause' | 'period'>),
    name,
    ...scopeValuesOf(filter),
    ...channelValuesOf(channels),
    isActive,
  };
};

/** A session has no history and no filter. */
export const isOfSessions = ({ type, each }: Pick<RuleValues, 'type' | 'each'>): boolean =>
  type === 'burn_rate' && each === 'session';

/** The numbers that the form shows for a rule. */
export const fieldsOf = (values: Pick<RuleValues, 'type' | 'each'>) =>
  ruleTypes[values.type].fields.filter(({ member }) => !isOfSessions(values) || member === 'limit');

/** The rule as the API takes it. */
export const bodyOf = (values: RuleValues) => {
  const { type, name, isActive, period, each, measure, pause } = values;
  const numbers = ruleTypes[type].fields.map(
    ({ member }) => [member, values[member] === '' ? null : Number(values[member])] as const,
  );
  return {
    type,
    name: name.trim(),
    isActive,
    config: {
      ...Object.fromEntries(numbers),
      ...(hasPeriodChoice(type) && { period }),
      ...(type === 'burn_rate' && { each, measure, pause }),
      ...(isOfSessions(values) ? { factor: null, filter: null } : { filter: scopeOf(values) }),
    },
    ...channelsOf(values),
  };
};

/** Type and config, as the API takes them. */
export const conditionOf = (values: RuleValues) => {
  const { type, config } = bodyOf(values);
  return { type, config: changesOf({}, config, WHOLE) } as unknown as Pick<NewAlertRule, 'type' | 'config'>;
};

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
  ...scopeProblems(values),
  ...channelProblems(values),
  name: required('A name')(values.name),
});

/** True where the condition is complete; name and channels do not matter. */
export const canPreview = (values: RuleValues): boolean =>
  Object.values({ ...scopeProblems(values), ...numberProblems(values) }).every((problem) => problem === null);
