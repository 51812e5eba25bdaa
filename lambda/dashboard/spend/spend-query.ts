import * as z from 'zod/mini';
import type { FindDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { isTimeZone } from '../../domain/calendar/time-zones.ts';
import { granularities } from '../../domain/calendar/utc.ts';
import { invalid } from '../../domain/errors.ts';
import { hostLabel } from '../../domain/host-label.ts';
import { type DeclaredDimension, declaredName } from '../../domain/spend/declared-dimensions.ts';
import {
  type AllocationName,
  type CommonDimension,
  combinationProblem,
  commonDimensions,
  dimensionOf,
  isKeyDimension,
  type SpendDimensionName,
} from '../../domain/spend/dimensions.ts';
import { grouping } from '../../domain/spend/grouping.ts';
import { costBases, type SpendFilter, seenFilter } from '../../domain/spend/spend-question.ts';
import type { Caller } from '../../http/operation.ts';
import { dayOrInstant, described } from '../../http/parameters.ts';

const MAX_GROUPINGS = 7;

const repeatable = described(
  z.array(z.string().check(z.maxLength(256))).check(z.maxLength(50)),
  'Repeat it for several values. An empty value selects requests without one.',
);
const providers = described(
  z.array(hostLabel).check(z.maxLength(50)),
  'Repeat it, or separate values by commas, for several values.',
);
const declaredValues = described(
  z
    .array(z.string().check(z.maxLength(256), z.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}:/, 'must be name:value')))
    .check(z.maxLength(50)),
  'Name and value of a declared dimension: `team:search`. Repeat it for several values of the name. `team:` selects requests without one.',
);

/** Parameters of the report and of the export. */
export const spendQuery = z.strictObject({
  from: described(
    z.optional(dayOrInstant),
    'First day or instant, at a whole hour (UTC). Default: the first day of this month.',
  ),
  to: described(
    z.optional(dayOrInstant),
    'Last day (inclusive) or instant (exclusive), at a whole hour (UTC). Default: now.',
  ),
  granularity: described(
    z.optional(z.enum(granularities)),
    'What the series is divided into. Default: `hour` for less than a day, else `day`.',
  ),
  timeZone: described(
    z.optional(
      z.string().check(z.maxLength(64), z.refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')),
    ),
    'Whose days the series has, by IANA name, where `granularity` is `day`: for at most 62 days of which hours are kept, else UTC. It does not change the range: `from` and `to` as days are UTC. Where days begin within an hour, that hour is in the day in which it ends.',
  ),
  groupBy: described(
    z._default(z.array(grouping).check(z.maxLength(MAX_GROUPINGS)), []),
    'Repeat it, or separate names by commas, to group by several dimensions. `dim:team` is the declared dimension `team`. One of `client` and the declared dimensions combines with `provider`, `model`, `key`, `project` and `member`, in groups and filters together.',
  ),
  provider: z.optional(providers),
  model: z.optional(repeatable),
  tag: z.optional(repeatable),
  key: z.optional(repeatable),
  providerKey: z.optional(repeatable),
  project: z.optional(repeatable),
  member: z.optional(repeatable),
  client: z.optional(repeatable),
  dim: z.optional(declaredValues),
  cost: described(
    z._default(z.enum(costBases), 'effective'),
    "Which cost is shown: with the account's own prices, or at list prices.",
  ),
  latency: described(
    z.optional(z.enum(['true', 'false'])),
    '`true` adds `latency` to all sums but groups of the series. Many groups then take twice as long.',
  ),
  limit: described(
    z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1000)), 100),
    'Maximum number of groups in the response.',
  ),
  seriesLimit: described(
    z.optional(z.coerce.number().check(z.int(), z.minimum(0), z.maximum(1000))),
    'Maximum number of groups in each point of the series, which are the first of `groups`. Default: all.',
  ),
});

/** Parameters of the change between two periods. */
export const changeQuery = z.extend(
  z.omit(spendQuery, { granularity: true, timeZone: true, latency: true, limit: true, seriesLimit: true }),
  {
    to: described(
      z.optional(dayOrInstant),
      'Last day (inclusive) or instant (exclusive). Default: the end of this month, day or hour, as `from` begins one.',
    ),
    groupBy: z._default(spendQuery.shape.groupBy.def.innerType, ['model']),
    compareFrom: described(
      z.optional(dayOrInstant),
      'First day or instant of the period before. Default: as much time right before it; months before months.',
    ),
    compareTo: described(
      z.optional(dayOrInstant),
      'Last day (inclusive) or instant (exclusive) of the period before. Default: it is as long as the period.',
    ),
    limit: spendQuery.shape.limit,
  },
);

/** An empty value selects requests without one. */
const valuesOf = (values: readonly string[]) => values.map((value) => (value === '' ? null : value));

type FilterParameters = Pick<z.output<typeof spendQuery>, CommonDimension | 'dim'>;

const filterOf = (query: FilterParameters): SpendFilter => {
  const declaredFilter = Map.groupBy(query.dim ?? [], (pair) => declaredName(pair.slice(0, pair.indexOf(':'))));
  return Object.fromEntries([
    ...commonDimensions.flatMap((name) => (query[name] ? [[dimensionOf(name), valuesOf(query[name])]] : [])),
    ...[...declaredFilter].map(([name, pairs]) => [
      name,
      valuesOf(pairs.map((pair) => pair.slice(pair.indexOf(':') + 1))),
    ]),
  ]) as SpendFilter;
};

/** Names that an account declared as dimensions, now or before. */
export type FindDeclared = (accountId: string) => Promise<readonly DeclaredDimension[]>;

/**
 * Groups and filters of a report.
 *
 * @throws ValidationError where they cannot be combined, or one was never declared: its spend would show as nothing
 */
const dimensionsOf = async (
  query: FilterParameters & Pick<z.output<typeof spendQuery>, 'groupBy'>,
  findDeclared: () => ReturnType<FindDeclared>,
) => {
  const filter = filterOf(query);
  const groupBy = [...new Set(query.groupBy)].map(dimensionOf);
  const ofKey = groupBy.find(isKeyDimension);
  if (groupBy.includes('keyId') && ofKey !== undefined)
    throw invalid('groupBy', `key and ${ofKey} do not combine: a key belongs to one ${ofKey}`);
  const dimensions = [...groupBy, ...(Object.keys(filter) as SpendDimensionName[])];
  const pathOf = (name: SpendDimensionName) => (groupBy.includes(name) ? 'groupBy' : 'dim');
  const problem = combinationProblem(dimensions);
  if (problem !== undefined) throw invalid('groupBy', problem);
  const asked = dimensions.find((name) => name.startsWith('dim:'));
  if (asked !== undefined && !(await findDeclared()).some(({ name }) => declaredName(name) === asked))
    throw invalid(pathOf(asked), `${asked.slice('dim:'.length)} is not a dimension of the account: declare it first`);
  return { filter, groupBy };
};

export interface QuestionDependencies {
  readonly findDeclared: FindDeclared;
  /** Without it, amounts are in US dollars only. */
  readonly findCurrency?: FindDisplayCurrency;
}

/** The question of a request about the spend that its caller sees, but for the range. @throws ValidationError as dimensionsOf */
export const questionOf = async (
  { findDeclared, findCurrency }: QuestionDependencies,
  caller: Caller,
  query: Parameters<typeof dimensionsOf>[0] & Pick<z.output<typeof spendQuery>, 'cost'>,
) => {
  const { accountId } = caller;
  const { keyIds } = scopeOf(caller).sees;
  const [{ filter, groupBy }, currency] = await Promise.all([
    dimensionsOf(query, () => findDeclared(accountId)),
    findCurrency?.(accountId) ?? null,
  ]);
  return { groupBy, filter: seenFilter(filter, keyIds), keyIds, accountId, cost: query.cost, currency };
};

/** A group by the API's names: `key` for the id of a service key, declared dimensions under `dim`. */
export const withApiNames = <G extends { readonly keyId?: string | null }>({ keyId, ...rest }: G) => {
  const kindOf = ([name]: [string, unknown]) => (name.startsWith('dim:') ? 'declared' : 'others');
  const { declared, others = [] } = Object.groupBy(Object.entries(rest), kindOf);
  type Others = Omit<G, 'keyId' | AllocationName> & { readonly client?: string | null };
  return {
    ...(Object.fromEntries(others) as Others),
    ...(keyId !== undefined && { key: keyId }),
    ...(declared && {
      dim: Object.fromEntries(declared.map(([name, value]) => [name.slice('dim:'.length), value as string | null])),
    }),
  };
};
