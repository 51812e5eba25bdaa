import { type ContentDependencies, readContent } from '../../domain/reports/report-content.ts';
import { openDisplayCurrency } from '../accounts/own-prices.ts';
import { openValueNames } from '../accounts/value-names.ts';
import { openRules } from '../alerts/rules.ts';
import { openTrackingGaps } from '../ledger/tracking-gaps.ts';
import { openSpend } from '../spend/spend.ts';
import type { Table } from '../table/table.ts';
import { loadSavings, openSavingDecisions } from './saving-decisions.ts';

/** Contents of reports, read from a table. */
export const openContent = (
  table: Table,
  requests: Parameters<typeof loadSavings>[1],
  logger: Parameters<typeof loadSavings>[2],
  now: () => Date,
) => {
  const rules = openRules(table);
  const decisions = openSavingDecisions(table);
  const savings = loadSavings(table, requests, logger);
  return readContent({
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    namesOf: openValueNames(table),
    listBudgets: async (accountId) =>
      (await rules.list(accountId)).flatMap(({ condition, ...rule }) =>
        condition.type === 'budget' && rule.isActive ? [{ ...rule, condition }] : [],
      ),
    readFindings: async (accountId, period) => {
      const { readFindings } = await savings();
      const [{ findings, ...read }, decided] = await Promise.all([
        readFindings(accountId, period),
        decisions.list(accountId),
      ]);
      const dismissed = decided.filter(({ decision }) => decision === 'dismissed').map(({ findingId }) => findingId);
      return { ...read, findings: findings.filter(({ id }) => !dismissed.includes(id)) };
    },
    findCurrency: openDisplayCurrency(table),
    now,
  } satisfies ContentDependencies);
};

export type ReadContent = ReturnType<typeof openContent>;
