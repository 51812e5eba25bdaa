import type { AlertRule, Budget, NewAlertRule } from '../api/responses.ts';
import { utcDayText } from '../format/time.ts';
import { changesOf } from '../forms/changes.ts';
import type { Collection } from '../forms/collections.ts';
import { type ScopeValues, scopeOf, scopeText, scopeValuesOf } from '../scope/scope.ts';
import type { LimitSearch } from '../search.ts';
import type { KeyNames } from '../spend/groups.ts';
import { type ChannelValues, channelsOf, channelValuesOf, mailOnly } from './channels.ts';
import { type LimitNumbers, type LimitPeriod, type LimitType, limitTypes, periodLabels } from './limit-types.ts';
import { eachText } from './names.ts';

export type Limit = AlertRule | Budget;

export const typeOf = (limit: Limit): LimitType => ('type' in limit ? limit.type : 'budget');

/** The requests that a limit is about, as it is stored. */
export const filterOf = (limit: Limit): unknown => ('type' in limit ? limit.config['filter'] : limit.filter);

/** The values of the form: the members of every type. A rule or budget has those of its own type. */
export interface LimitValues extends LimitNumbers, ScopeValues, ChannelValues {
  readonly type: LimitType;
  readonly name: string;
  readonly period: LimitPeriod;
  /** A rule about runaways judges these one by one, and pauses one for some minutes; null: not at all. */
  readonly each: string;
  readonly pause: { readonly minutes: number | null } | null;
  /** A budget holds for each of these by itself: empty for all together, `dim` for each value of the metadata name `eachName`. */
  readonly perEach: string;
  readonly eachName: string;
  /** Other amounts: `project:` and an id, or `role:` and a role. */
  readonly groupAmounts: readonly { readonly of: string; readonly amount: number | string }[];
  /** First and last UTC day of a budget for certain days. */
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

/** Members that the API replaces. */
export const WHOLE = ['pause'];

/** The values that a new limit of a type has of its own. */
const startOf = (type: LimitType) => {
  const { periods, fields } = limitTypes[type];
  const usual = type === 'budget' ? 'monthly' : 'daily';
  return {
    type,
    period: periods.includes(usual) ? usual : (periods[0] as LimitPeriod),
    amount: '',
    threshold: '',
    limit: '',
    budget: '',
    factor: '',
    minimum: '',
    minimumRequests: '',
    ...Object.fromEntries(fields.map(({ member, initial }) => [member, initial])),
  } as const;
};

export const emptyLimit = (type: LimitType): LimitValues => ({
  ...startOf(type),
  name: '',
  each: 'key',
  measure: 'cost',
  pause: { minutes: 720 },
  perEach: '',
  eachName: '',
  groupAmounts: [],
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
  ...scopeValuesOf(undefined),
  ...mailOnly,
});

/** A limit as a page that links here proposes it. */
export const newLimit = ({ type, ...filter }: LimitSearch): LimitValues => ({
  ...emptyLimit(Object.hasOwn(limitTypes, type ?? '') ? (type as LimitType) : 'cost_threshold'),
  ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)),
});

/** The values as those of another type: only what a type has of its own begins anew. */
export const withType = (values: LimitValues, type: LimitType): LimitValues => ({ ...values, ...startOf(type) });

const groupsOf = { project: 'amountByProject', role: 'amountByRole' } as const;

/** Members and keys have projects and roles; other values do not. */
export const mayHaveGroups = ({ perEach }: Pick<LimitValues, 'perEach'>): boolean =>
  ['member', 'key'].includes(perEach);

/** A stored rule or budget as the form holds it. */
export const valuesOf = (limit: Limit): LimitValues => {
  const base = { ...emptyLimit(typeOf(limit)), ...channelValuesOf(limit), name: limit.name };
  if ('type' in limit) {
    const { config } = limit;
    const numbers = limitTypes[limit.type].fields.map(({ member }) => [member, config[member] ?? ''] as const);
    const { each = base.each, measure = base.measure, pause = null, period = base.period, filter } = config;
    const others = { each, measure, pause, period } as Pick<LimitValues, 'each' | 'measure' | 'pause' | 'period'>;
    return { ...base, ...Object.fromEntries(numbers), ...others, ...scopeValuesOf(filter) };
  }
  const { amount, each = '', period, filter, notifyAt, block, unknownCost, showRemaining } = limit;
  return {
    ...base,
    ...scopeValuesOf(filter),
    amount,
    ...(each.startsWith('dim:') ? { perEach: 'dim', eachName: eachText(each) } : { perEach: each }),
    ...(typeof period === 'string' ? { period } : { period: 'fixed', ...period }),
    groupAmounts: Object.entries(groupsOf).flatMap(([group, member]) =>
      Object.entries(limit[member] ?? {}).map(([name, of]) => ({ of: `${group}:${name}`, amount: of })),
    ),
    notifyAt: notifyAt.join(', '),
    ...(block && { blocks: true, ...block }),
    ...(typeof unknownCost === 'string' ? { unknownCost } : { unknownCost: 'count', countAs: unknownCost.countAsUsd }),
    showRemaining,
  };
};

/** A session has no history and no filter. */
export const isOfSessions = ({ type, each }: Pick<LimitValues, 'type' | 'each'>): boolean =>
  type === 'burn_rate' && each === 'session';

/** The numbers that the form shows. */
export const fieldsOf = (values: Pick<LimitValues, 'type' | 'each'>) =>
  limitTypes[values.type].fields.filter(({ member }) => !isOfSessions(values) || member === 'limit');

/** `80, 100%` as numbers; a text that is no number is NaN. */
const percentsOf = (text: string): number[] =>
  text
    .split(/[,;\s%]+/)
    .filter((part) => part !== '')
    .map(Number);

/** The amounts of projects, or of roles. Null for none. */
const amountsOf = (values: LimitValues, group: keyof typeof groupsOf): Record<string, number | null> | null => {
  const rows = mayHaveGroups(values) ? values.groupAmounts.filter(({ of }) => of.startsWith(`${group}:`)) : [];
  const amounts = rows.map(({ of, amount }) => [of.slice(group.length + 1), amount === '' ? null : Number(amount)]);
  return amounts.length > 0 ? Object.fromEntries(amounts) : null;
};

/** The members that a budget has and rules have not. */
const budgetMembers = (values: LimitValues) => {
  const { from, to, notifyAt, blocks, atPercent, enforcement, onUnavailable, unknownCost, countAs, period } = values;
  const { perEach, eachName } = values;
  return {
    each: perEach === 'dim' ? `dim:${eachName.trim()}` : perEach || null,
    amountByProject: amountsOf(values, 'project'),
    amountByRole: amountsOf(values, 'role'),
    period: period === 'fixed' ? { from, to } : period,
    notifyAt: percentsOf(notifyAt),
    block: blocks ? { atPercent: Number(atPercent), enforcement, onUnavailable } : null,
    unknownCost: unknownCost === 'count' ? { countAsUsd: Number(countAs) } : unknownCost,
    showRemaining: values.showRemaining,
  };
};

const configOf = (values: LimitValues): Record<string, unknown> => {
  const { type, period, each, measure, pause } = values;
  const { fields, periods } = limitTypes[type];
  return {
    ...Object.fromEntries(fields.map(({ member }) => [member, values[member] === '' ? null : Number(values[member])])),
    ...(periods.length > 1 && { period }),
    ...(type === 'budget' && budgetMembers(values)),
    ...(type === 'burn_rate' && { each, measure, pause }),
    ...(isOfSessions(values) ? { factor: null, filter: null } : { filter: scopeOf(values) }),
  };
};

export const collectionOf = ({ type }: Pick<LimitValues, 'type'>) =>
  (type === 'budget' ? '/budgets' : '/alert-rules') satisfies Collection;

/** A rule has its config as a member; the members of a budget are its config. */
const inBody = (type: LimitType, config: object) => (type === 'budget' ? config : { type, config });

/** The rule or budget as the API takes it. */
export const bodyOf = (values: LimitValues) => ({
  name: values.name.trim(),
  ...inBody(values.type, configOf(values)),
  ...channelsOf(values),
});

/** Type and config, without members that have no value. */
export const conditionOf = (values: LimitValues) => ({
  type: values.type,
  config: changesOf({}, configOf(values), WHOLE),
});

/** The body by which the API judges the last 30 days. */
export const previewOf = (values: LimitValues) => {
  const { type, config } = conditionOf(values);
  return inBody(type, config) as Pick<NewAlertRule, 'type' | 'config'>;
};

/** `an hour`, `from Nov 1, 2026 to Nov 10, 2026`. */
const eachOf = ({ period, from, to }: LimitValues): string =>
  period === 'fixed'
    ? `from ${utcDayText(from)} to ${utcDayText(to)}`
    : `${period === 'hourly' ? 'an' : 'a'} ${periodLabels[period].toLowerCase()}`;

/** A limit in one line: `$50 or more a day, of OpenAI, tag batch`. */
export const limitText = (limit: Limit, keyNames: KeyNames): string => {
  const values = valuesOf(limit);
  const what = limitTypes[values.type].sentence(values, eachOf(values));
  const only = scopeText(filterOf(limit), keyNames);
  const whole = only === '' ? what : `${what}, of ${only}`;
  const per = 'type' in limit ? '' : eachText(limit.each);
  return per === '' ? whole : `${whole}, for each ${per}`;
};
