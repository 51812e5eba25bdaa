import * as z from 'zod/mini';
import { datasetNames, exportFormats, MAX_LISTED_DAYS } from '../../domain/exports/datasets.ts';
import { forMachines, operation } from '../../http/operation.ts';
import { day } from '../../http/time-parameters.ts';

const count = z.int().check(z.nonnegative());

const dayExport = z
  .object({
    day,
    dataset: z.enum(datasetNames),
    format: z.enum(exportFormats),
    exportedAt: z.iso.datetime(),
    rows: count,
    bytes: count,
    requests: count.check(z.describe('Requests of the day.')),
    costNanoUsd: count.check(z.describe('Sum of all known costs of the day, in 1e-9 USD.')),
    unpricedRequests: count.check(
      z.describe('Requests of unknown cost: they are rows of `requests`, and have none in `cost-and-usage`.'),
    ),
    url: z.url().check(z.describe('Anybody who has the link can download the file until `urlExpiresAt`.')),
    urlExpiresAt: z.iso.datetime(),
  })
  .register(z.globalRegistry, { id: 'Export' });

export const listExports = operation({
  id: 'listExports',
  method: 'GET',
  path: '/exports',
  group: 'Exports',
  summary: 'List exported days, with links to download them',
  description: `Each day is exported after it is rolled up, an hour after its end, and again as a whole when a late event or a new price changes it. \`cost-and-usage\` follows the FOCUS specification 1.2; \`requests\` has the request records, for roles that may read them. At most ${MAX_LISTED_DAYS} days.`,
  permission: 'spend:read',
  query: z.strictObject({
    from: z.optional(day.check(z.describe('First day. Default: 30 days before `to`.'))),
    to: z.optional(day.check(z.describe('Last day, inclusive. Default: today.'))),
    dataset: z.optional(z.enum(datasetNames)),
    format: z._default(z.enum(exportFormats), 'parquet'),
  }),
  success: {
    status: 200,
    description: 'Oldest first.',
    schema: z.object({ items: z.array(dayExport) }),
  },
});

export const machineListExports = forMachines(listExports);
