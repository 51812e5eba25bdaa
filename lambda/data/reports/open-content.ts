import { type ContentDependencies, readContent } from '../../domain/reports/report-content.ts';
import { openProjects } from '../accounts/projects.ts';
import { openServiceKeys } from '../accounts/service-keys.ts';
import { openRules } from '../alerts/rules.ts';
import { openTrackingGaps } from '../ledger/tracking-gaps.ts';
import { openSpend } from '../spend/spend.ts';
import type { Table } from '../table/table.ts';

/** Contents of reports, read from a table. */
export const openContent = (table: Table, now: () => Date) => {
  const { list: listKeys } = openServiceKeys(table);
  const projects = openProjects(table);
  const rules = openRules(table);
  return readContent({
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    namesOf: async (accountId, by) =>
      new Map(
        by === 'key'
          ? (await listKeys(accountId)).map(({ keyId, name }) => [keyId, name])
          : (await projects.list(accountId)).map(({ projectId, name }) => [projectId, name]),
      ),
    listBudgets: async (accountId) =>
      (await rules.list(accountId)).flatMap(({ condition, ...rule }) =>
        condition.type === 'budget' && rule.isActive ? [{ ...rule, condition }] : [],
      ),
    now,
  } satisfies ContentDependencies);
};

export type ReadContent = ReturnType<typeof openContent>;
