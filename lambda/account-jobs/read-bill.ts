import type { BillConnection, BillConnections } from '../data/reconciliation/bill-connections.ts';
import type { Bills } from '../data/reconciliation/bills.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/calendar/units.ts';
import { addDays, type Day, dayOf } from '../domain/calendar/utc.ts';
import type { BilledProvider } from '../domain/reconciliation/bill.ts';
import type { BillCredentials } from '../integrations/bills/bill-credentials.ts';
import { BillError, type BillSource } from '../integrations/bills/bill-source.ts';

/** The first read goes back this far. */
const FIRST_DAYS = 92;
/** Providers correct days for some time. */
const CORRECTED_DAYS = 7;
const EVERY_MS = 6 * HOUR_MS;
/** A credential that is refused is tried again in case it was allowed to read since. */
const REFUSED_MS = 24 * HOUR_MS;
const MAX_WAIT_MINUTES = 6 * 60;

interface ReadBillDependencies {
  readonly bills: Pick<Bills, 'replace'>;
  readonly connections: Pick<BillConnections, 'list' | 'write'>;
  readonly credentials: Pick<BillCredentials, 'read'>;
  readonly sourceOf: (provider: BilledProvider) => BillSource;
  readonly now: () => Date;
}

/**
 * Reads what a provider billed an account: since the last time, and the days before that may have been corrected. What cannot be read is
 * on the connection for people, and tried again; only faults of ours are thrown.
 */
export const readBill =
  ({ bills, connections, credentials, sourceOf, now }: ReadBillDependencies) =>
  async (accountId: string, provider: string, isLate: () => boolean): Promise<void> => {
    const at = now();
    const later = (ms: number) => new Date(at.getTime() + ms).toISOString();
    const { items, unreadable } = await connections.list(accountId);
    const connection = items.find((each) => each.provider === provider);
    if (connection === undefined) {
      const ofLaterVersion = unreadable.find((each) => each['provider'] === provider);
      if (ofLaterVersion) await connections.write(ofLaterVersion as BillConnection, {}, later(EVERY_MS));
      return;
    }
    const source = sourceOf(connection.provider);
    const fail = async (problem: string, waitMs: number) => {
      await connections.write(connection, { problem, failures: connection.failures + 1 }, later(waitMs));
    };
    const credential = await credentials.read(accountId, provider);
    if (credential === undefined) return fail('The credential is missing: connect the provider again.', REFUSED_MS);
    const today = dayOf(at.toISOString());
    const since =
      connection.readAt === null ? addDays(today, -FIRST_DAYS) : addDays(dayOf(connection.readAt), -CORRECTED_DAYS);
    try {
      for (let from: Day = since; from <= today; from = addDays(from, source.maxDays)) {
        const to = addDays(from, source.maxDays - 1);
        await bills.replace(
          accountId,
          provider,
          await source.read(credential, { from, to: to < today ? to : today }),
          at.toISOString(),
        );
        // The rest has a turn of its own.
        if (isLate() && to < today) {
          const readAt = new Date(to).toISOString();
          await connections.write(connection, { readAt, problem: null, failures: 0 }, at.toISOString());
          return;
        }
      }
    } catch (error) {
      if (!(error instanceof BillError)) throw error;
      const minutes = Math.min(5 * 2 ** connection.failures, MAX_WAIT_MINUTES);
      return fail(error.message, error.isRefused ? REFUSED_MS : minutes * MINUTE_MS);
    }
    await connections.write(connection, { readAt: at.toISOString(), problem: null, failures: 0 }, later(EVERY_MS));
  };

/** Puts a bill off that could not be read in time, or stored. @returns the failures so far */
export const failBill =
  ({ connections }: Pick<ReadBillDependencies, 'connections'>) =>
  async (accountId: string, provider: string, dueAt: (failures: number) => Date): Promise<number> => {
    const connection = (await connections.list(accountId)).items.find((each) => each.provider === provider);
    if (connection === undefined) return 1;
    const failures = connection.failures + 1;
    const problem = 'What the provider billed could not be read and stored. It is tried again.';
    await connections.write(connection, { problem, failures }, dueAt(failures).toISOString());
    return failures;
  };
