import * as z from 'zod';
import { providerLabels } from '../../domain/providers.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import type { SpendFilter } from '../../domain/spend-report.ts';
import { granularities } from '../../domain/spend-span.ts';
import { dayOrInstant } from '../../http/time-parameters.ts';

/** The API's names of the dimensions: `key` stands for the id of the service key. */
export const groupings = ['provider', 'model', 'tag', 'key', 'providerKey'] as const;
export type Grouping = (typeof groupings)[number];

const filterDescription = 'Repeat it to let several pass; empty stands for "none".';
const repeatable = z.array(z.string().max(256)).max(50).describe(filterDescription).optional();

/** The parameters of the report, shared by the export. */
export const spendQuery = z.strictObject({
  from: dayOrInstant.describe('First day or instant. Default: the first of this month (UTC).').optional(),
  to: dayOrInstant.describe('Last day, or first instant not included. Default: now.').optional(),
  granularity: z.enum(granularities).default('day'),
  groupBy: z.array(z.enum(groupings)).max(groupings.length).default([]).describe('Repeat it to group by several.'),
  provider: z
    .array(z.enum(providerLabels))
    .max(providerLabels.length)
    .describe('Repeat it to let several pass.')
    .optional(),
  model: repeatable,
  tag: repeatable,
  key: repeatable,
  providerKey: repeatable,
  limit: z.coerce.number().int().min(1).max(1000).default(100).describe('At most so many groups are named.'),
});

export const dimensionOf = (grouping: Grouping): SpendDimensionName => (grouping === 'key' ? 'keyId' : grouping);

/** An empty value asks for requests that have none. */
const valuesOf = (values: readonly string[]) => values.map((value) => (value === '' ? null : value));

export const filterOf = (query: Pick<z.output<typeof spendQuery>, Grouping>): SpendFilter => ({
  ...(query.provider && { provider: query.provider }),
  ...(query.model && { model: valuesOf(query.model) }),
  ...(query.tag && { tag: valuesOf(query.tag) }),
  ...(query.key && { keyId: valuesOf(query.key) }),
  ...(query.providerKey && { providerKey: valuesOf(query.providerKey) }),
});
