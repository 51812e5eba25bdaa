import { auditOf } from '../../data/accounts/audit-log.ts';
import type { BillConnection, BillConnections } from '../../data/reconciliation/bill-connections.ts';
import { addDays, dayOf } from '../../domain/calendar/utc.ts';
import { ValidationError } from '../../domain/errors.ts';
import type { BilledProvider } from '../../domain/reconciliation/billed-providers.ts';
import type { Implementation } from '../../http/operation.ts';
import type { BillCredentials } from '../../integrations/bills/bill-credentials.ts';
import { BillError, type BillSource } from '../../integrations/bills/bill-source.ts';
import type * as operations from './operations.ts';

export interface BillConnectionDependencies {
  readonly connections: Pick<BillConnections, 'list' | 'save' | 'remove'>;
  readonly credentials: Pick<BillCredentials, 'save' | 'remove'>;
  readonly sourceOf: (provider: BilledProvider) => BillSource;
  readonly now: () => Date;
}

const viewOf = ({ provider, connectedAt, connectedBy, readAt, problem }: BillConnection) => ({
  provider: provider as BilledProvider,
  connectedAt,
  connectedBy,
  readAt,
  problem,
});

export const listBillConnections =
  ({
    connections,
  }: Pick<BillConnectionDependencies, 'connections'>): Implementation<typeof operations.listBillConnections> =>
  async ({ caller: { accountId } }) => ({ items: (await connections.list(accountId)).map(viewOf) });

/** Saves a credential after the bill of yesterday was read with it. */
export const connectBill =
  ({
    connections,
    credentials,
    sourceOf,
    now,
  }: BillConnectionDependencies): Implementation<typeof operations.connectBill> =>
  async ({ caller, clientAddress, params: { provider }, body: { credential } }) => {
    const at = now();
    const yesterday = addDays(dayOf(at.toISOString()), -1);
    const source = sourceOf(provider);
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
    await credentials.save(caller.accountId, provider, credential);
    const fact = { action: 'bill.connected', details: { provider } } as const;
    await connections.save(connection, auditOf({ caller, clientAddress }, fact, at));
    return viewOf({ ...connection, readAt: null, problem: null, failures: 0 });
  };

export const disconnectBill =
  ({ connections, credentials, now }: BillConnectionDependencies): Implementation<typeof operations.disconnectBill> =>
  async ({ caller, clientAddress, params: { provider } }) => {
    await credentials.remove(caller.accountId, provider);
    const fact = { action: 'bill.disconnected', details: { provider } } as const;
    await connections.remove(caller.accountId, provider, auditOf({ caller, clientAddress }, fact, now()));
    return undefined;
  };
