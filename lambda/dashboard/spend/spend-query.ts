import * as z from 'zod/mini';
import { granularities } from '../../domain/calendar/utc.ts';
import { providerLabels } from '../../domain/providers.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import type { SpendFilter } from '../../domain/spend/spend-report.ts';
import { dayOrInstant } from '../../http/time-parameters.ts';

/** API names of the dimensions. `key` is the id of the service key. */
export const groupings = ['provider', 'model', 'tag', 'key', 'providerKey', 'project'] as const;
export type Grouping = (typeof groupings)[number];

const repeatable = z
  .array(z.string().check(z.maxLength(256)))
  .check(z.maxLength(50), z.describe('Repeat it for several values. An empty value selects requests without one.'));
const providers = z
  .array(z.enum(providerLabels))
  .check(
    z.maxLength(providerLabels.length),
    z.describe('Repeat it, or separate values by commas, for several values.'),
  );

/** Parameters of the report and of the export. */
export const spendQuery = z.strictObject({
  from: z.optional(dayOrInstant.check(z.describe('First day or instant. Default: the first day of this month (UTC).'))),
  to: z.optional(dayOrInstant.check(z.describe('Last day (inclusive) or instant (exclusive). Default: now.'))),
  granularity: z._default(z.enum(granularities), 'day'),
  groupBy: z
    ._default(z.array(z.enum(groupings)).check(z.maxLength(groupings.length)), [])
    .check(z.describe('Repeat it, or separate names by commas, to group by several dimensions.')),
  provider: z.optional(providers),
  model: z.optional(repeatable),
  tag: z.optional(repeatable),
  key: z.optional(repeatable),
  providerKey: z.optional(repeatable),
  project: z.optional(repeatable),
  limit: z
    ._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1000)), 100)
    .check(z.describe('Maximum number of groups in the response.')),
});

export const dimensionOf = (grouping: Grouping): SpendDimensionName =>
  // Where reports see it, a project stands in the place of its keys: see with-projects.ts.
  grouping === 'key' || grouping === 'project' ? 'keyId' : grouping;

/** An empty value selects requests without one. */
const valuesOf = (values: readonly string[]) => values.map((value) => (value === '' ? null : value));

export const filterOf = (query: Pick<z.output<typeof spendQuery>, Grouping>): SpendFilter => ({
  ...(query.provider && { provider: query.provider }),
  ...(query.model && { model: valuesOf(query.model) }),
  ...(query.tag && { tag: valuesOf(query.tag) }),
  ...(query.key && { keyId: valuesOf(query.key) }),
  ...(query.providerKey && { providerKey: valuesOf(query.providerKey) }),
});
