import * as z from 'zod/mini';
import { forMachines, operation } from '../../http/operation.ts';
import { spendQuery } from '../spend/spend-query.ts';

export const exportSpend = operation({
  id: 'exportSpend',
  method: 'GET',
  path: '/spend/export.csv',
  group: 'Spend',
  summary: 'Download spend as CSV',
  description:
    'One line for each group in each hour, day or month with requests. `cost_usd` is the cost that the parameter `cost` chooses, `list_cost_usd` the one at list prices. An unknown cost is an empty field. The columns `may_also_match_…` have requests counted under `(other)`, or recorded before a dimension was declared, that may match the filter; the other columns do not include them. With a display currency there are columns `display_cost` and `display_currency`; with `latency`, `latency_p50_ms` and `latency_p95_ms` of the `latency_requests` whose duration is known. Text that a spreadsheet would run as a formula is prefixed with an apostrophe.',
  permission: 'spend:read',
  query: z.omit(spendQuery, { limit: true }),
  success: {
    status: 200,
    description: 'CSV by RFC 4180 in UTF-8 with a header line.',
    schema: z.string(),
    streamed: { contentType: 'text/csv; charset=utf-8', filename: 'spend.csv' },
  },
});

export const machineExportSpend = forMachines(exportSpend);
