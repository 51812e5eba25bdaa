import * as z from 'zod/mini';
import { openAccountTerms } from '../../data/accounts/account-terms.ts';
import { type AuditLog, openAuditLog } from '../../data/accounts/audit-log.ts';
import type { Table } from '../../data/table/table.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOrInstant } from '../../http/time-parameters.ts';

/** The entries to list or export. */
export const auditRange = {
  from: z.optional(dayOrInstant.check(z.describe('First day or instant. Default: 30 days before `to`.'))),
  to: z.optional(dayOrInstant.check(z.describe('Last day (inclusive) or instant (exclusive). Default: now.'))),
};

export const KEPT = 'Entries are kept as long as request records on the plan.';

export interface AuditDependencies {
  readonly audit: Pick<AuditLog, 'page' | 'all'>;
  readonly accountTerms: Pick<ReturnType<typeof openAccountTerms>, 'find'>;
  readonly now: () => Date;
}

export const openAuditDependencies = (table: Table): AuditDependencies => ({
  audit: openAuditLog(table),
  accountTerms: openAccountTerms(table),
  now: () => new Date(),
});

/** The range, cut to the days that the account's plan keeps. */
export const keptRange = async (
  { accountTerms, now }: Pick<AuditDependencies, 'accountTerms' | 'now'>,
  accountId: string,
  query: Parameters<typeof instantsOf>[0],
) => {
  const { from, to } = instantsOf(query, now());
  const { retentionDays } = await accountTerms.find(accountId);
  const earliest = new Date(now().getTime() - retentionDays * DAY_MS).toISOString();
  const first = from < earliest ? earliest : from;
  return { from: first, to: to < first ? first : to };
};
