import type { AuditEntry } from '../../data/accounts/audit-log.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { csvLine } from '../../domain/spend/spend-csv.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import type * as operations from './operations.ts';

/** The range, cut to the days that the account's plan keeps. */
const keptRange = async (
  { accountTerms, now }: Reading,
  accountId: string,
  query: Parameters<typeof instantsOf>[0],
) => {
  const { from, to } = instantsOf(query, now());
  const { retentionDays } = await accountTerms.find(accountId);
  const earliest = new Date(now().getTime() - retentionDays * DAY_MS).toISOString();
  const first = from < earliest ? earliest : from;
  return { from: first, to: to < first ? first : to };
};

const view = ({ auditId, accountId: _, ...entry }: AuditEntry) => ({ id: auditId, ...entry });

const COLUMNS = 'id,at,action,actor_id,actor_name,client_address,subject,details,before';

async function* csvOf(entries: AsyncIterable<AuditEntry>): AsyncGenerator<string> {
  yield `${COLUMNS}\r\n`;
  for await (const { auditId, at, action, actor, clientAddress, subject, details, before } of entries) {
    const fields = [
      auditId,
      at,
      action,
      actor?.userId ?? null,
      actor?.name ?? null,
      clientAddress,
      subject,
      JSON.stringify(details),
      before && JSON.stringify(before),
    ];
    yield csvLine(fields);
  }
}

export const readAudit = (reading: Reading): Implementations<typeof operations> => ({
  listAudit: async ({ caller: { accountId }, query: { limit, cursor, from, to } }) => {
    const range = await keptRange(reading, accountId, { from, to });
    const { items, nextCursor } = await reading.audit.page(accountId, { ...range, limit, cursor });
    return { items: items.map(view), nextCursor };
  },

  exportAudit: async ({ caller: { accountId }, query }) =>
    csvOf(reading.audit.all(accountId, await keptRange(reading, accountId, query))),
});
