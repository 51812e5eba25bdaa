import type { AuditEntry } from '../../data/accounts/audit-log.ts';
import { csvField } from '../../domain/spend/spend-csv.ts';
import type { Implementation } from '../../http/operation.ts';
import { type AuditDependencies, keptRange } from '../audit/audit-query.ts';
import type * as operations from './operations.ts';

const columns = [
  'id',
  'at',
  'action',
  'actor_id',
  'actor_name',
  'client_address',
  'subject',
  'details',
  'before',
] as const;
const line = (fields: readonly (string | null)[]): string => `${fields.map(csvField).join(',')}\r\n`;

async function* csvOf(entries: AsyncIterable<AuditEntry>): AsyncGenerator<string> {
  yield line(columns);
  for await (const { auditId, at, action, actor, clientAddress, subject, details, before } of entries) {
    yield line([
      auditId,
      at,
      action,
      actor?.userId ?? null,
      actor?.name ?? null,
      clientAddress,
      subject,
      JSON.stringify(details),
      before && JSON.stringify(before),
    ]);
  }
}

export const exportAudit =
  (dependencies: AuditDependencies): Implementation<typeof operations.exportAudit> =>
  async ({ caller: { accountId }, query }) =>
    csvOf(dependencies.audit.all(accountId, await keptRange(dependencies, accountId, query)));
