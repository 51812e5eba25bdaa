import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openTrackingGaps } from '../../data/ledger/tracking-gaps.ts';
import { readInTime } from '../../data/spend/read-in-time.ts';
import { openSpend } from '../../data/spend/spend.ts';
import type { Table } from '../../data/table/table.ts';
import type { Implementation } from '../../http/operation.ts';
import type { readSpend as operation } from './operations.ts';
import { readSpend } from './read-spend.ts';
import { renameReport, withProjects } from './with-projects.ts';

/** GET /spend over the table: what the API, metrics and MCP tools show is read here. */
export const openReadSpend = (table: Table): Implementation<typeof operation> => {
  const { gaps: readTrackingGaps } = openTrackingGaps(table);
  const { find: findDeclared } = openDeclaredDimensions(table);
  return withProjects(
    { listKeys: openServiceKeys(table).list, readCounters: readInTime(openSpend(table).read) },
    (readCounters) => readSpend({ readCounters, readTrackingGaps, findDeclared, now: () => new Date() }),
    renameReport,
  );
};
