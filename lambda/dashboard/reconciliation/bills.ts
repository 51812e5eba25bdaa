import { auditOf } from '../../data/accounts/audit-log.ts';
import { addDays, dayOf } from '../../domain/calendar/utc.ts';
import { ConflictError, ValidationError } from '../../domain/errors.ts';
import { parseBillCsv } from '../../domain/reconciliation/bill-csv.ts';
import type { Implementations } from '../../http/operation.ts';
import { BillError } from '../../integrations/bills/bill-source.ts';
import type { Files } from '../open-files.ts';
import type * as operations from './operations.ts';

export const manageBills = (files: Files): Omit<Implementations<typeof operations>, 'readReconciliation'> => ({
  listBillConnections: async ({ caller: { accountId } }) => {
    const { items, unreadable } = await files.connections.list(accountId);
    return { items, unreadable: unreadable.length || undefined };
  },

  /** Saves a credential after the bill of yesterday was read with it. */
  connectBill: async ({ caller, clientAddress, params: { provider }, body: { credential } }) => {
    const at = files.now();
    const yesterday = addDays(dayOf(at.toISOString()), -1);
    const source = files.sourceOf(provider);
    try {
      await source.read(credential, { from: yesterday, to: yesterday });
    } catch (error) {
      if (!(error instanceof BillError)) throw error;
      const message = `${error.message} It takes ${source.credential}.`;
      throw new ValidationError([{ path: 'credential', message }], message);
    }
    const connection = {
      accountId: caller.accountId,
      provider,
      connectedAt: at.toISOString(),
      connectedBy: caller.name,
    };
    const fact = { action: 'bill.connected', details: { provider } } as const;
    await files.connections.save(connection, auditOf({ caller, clientAddress }, fact, at));
    // Then: without a connection nobody would find the credential.
    await files.credentials.save(caller.accountId, provider, credential);
    if (!(await files.connections.list(caller.accountId)).items.some((each) => each.provider === provider)) {
      await files.credentials.remove(caller.accountId, provider);
      throw new ConflictError('Another request disconnected the bill. Connect it again.');
    }
    return { ...connection, readAt: null, problem: null, failures: 0 };
  },

  disconnectBill: async ({ caller, clientAddress, params: { provider } }) => {
    await files.credentials.remove(caller.accountId, provider);
    const fact = { action: 'bill.disconnected', details: { provider } } as const;
    await files.connections.remove(caller.accountId, provider, auditOf({ caller, clientAddress }, fact, files.now()));
    // Another request may have saved one in between.
    await files.credentials.remove(caller.accountId, provider);
  },

  importBill: async ({ caller, clientAddress, params: { provider }, body: { csv } }) => {
    const lines = parseBillCsv(csv);
    const at = files.now();
    const days = await files.bills.replace(caller.accountId, provider, { lines, usage: [] }, at.toISOString());
    const details = { provider, days: String(days.length), lines: String(lines.length) };
    await files.audit.record(auditOf({ caller, clientAddress }, { action: 'bill.imported', details }, at));
    return { days: [...days], lines: lines.length };
  },
});
