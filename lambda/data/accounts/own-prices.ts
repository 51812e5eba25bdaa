import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import type { AccountPrices } from '../../domain/own-prices/apply-prices.ts';
import { noPrices, type OwnPrices, parsePrices, printPrices } from '../../domain/own-prices/own-price.ts';
import type { DisplayCurrency } from '../../domain/spend/display-currency.ts';
import { EXISTS, IS_NEW, put, update } from '../table/actions.ts';
import { accountKey, ownPricesKey, pricedAccountKey, pricedAccountsPartition } from '../table/keys.ts';
import { findItem, itemsIn } from '../table/read.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { retryConflicts, transact, tryWrite } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { openServiceKeys } from './service-keys.ts';

const MAX_ENTRIES = 10_000;
/** After a change: a minute until recorders know that an account has prices, one until they read them again, one for a run. */
export const PRICES_KNOWN_MS = 3 * MINUTE_MS;

const stored = z.object({ version: z.int(), json: z.string() });

/** An account's own prices as they were read. A change is written over this version only. */
export interface PriceVersion {
  readonly version: number;
  readonly own: OwnPrices;
}

interface PriceChange {
  readonly own: OwnPrices;
  readonly audit: AuditEntry;
}

/** The prices that accounts have of their own: one item each. */
export const openOwnPrices = (table: Table, now: () => number = Date.now) => {
  const keys = openServiceKeys(table);

  const read = async (accountId: string): Promise<PriceVersion> => {
    const item = await findItem(table, ownPricesKey(accountId));
    if (item === undefined) return { version: 0, own: noPrices };
    const { version, json } = stored.parse(item);
    return { version, own: parsePrices(json) };
  };

  /** The write over a version that was read. */
  const replacing = (accountId: string, version: number, own: OwnPrices) => {
    const item = { ...ownPricesKey(accountId), version: version + 1, json: printPrices(own) };
    return version === 0 ? put(item, IS_NEW) : put(item, 'version = :version', { version });
  };

  /** Dependencies of pricing. The projects of keys are read where a price names one. */
  const accountPricesOf = async (accountId: string, { prices, months }: OwnPrices): Promise<AccountPrices> => {
    const hasProjects = prices.some(({ project }) => project !== undefined);
    const projects = hasProjects ? await keys.list(accountId) : [];
    return { prices, months, projectOf: new Map(projects.map(({ keyId, projectId }) => [keyId, projectId])) };
  };

  return {
    read,
    accountPricesOf,

    /** The prices of an account, cached for a minute. What is priced meanwhile is priced again: see PRICES_KNOWN_MS. */
    findAccountPrices: recentlyRead(
      async (accountId) => accountPricesOf(accountId, (await read(accountId)).own),
      MAX_ENTRIES,
      now,
    ),

    /** Replaces them by those that `decide` makes of them, with an entry in the audit log. `decide` runs again where another writer was faster. */
    change: <T extends PriceChange>(accountId: string, decide: (own: OwnPrices) => T): Promise<T> =>
      retryConflicts(async () => {
        const { version, own } = await read(accountId);
        const change = decide(own);
        const first = [
          put(pricedAccountKey(accountId)),
          update(accountKey(accountId), 'SET hasOwnPrices = :hasOwnPrices', EXISTS, { hasOwnPrices: true }),
        ];
        await transact(table, [
          replacing(accountId, version, change.own),
          putAudit(change.audit),
          ...(version === 0 ? first : []),
        ]);
        return change;
      }),

    /** Keeps the progress of a job. @returns false where the prices changed meanwhile: they begin another job */
    keepProgress: (accountId: string, version: number, own: OwnPrices): Promise<boolean> =>
      tryWrite(table, replacing(accountId, version, own)),

    /** All accounts that have, or had, prices of their own. */
    async *accounts(): AsyncGenerator<string> {
      for await (const { sk } of itemsIn(table, pricedAccountsPartition)) yield String(sk);
    },
  };
};

export type FindDisplayCurrency = (accountId: string) => Promise<DisplayCurrency | null>;

/** The currency that an account shows costs in; null for US dollars only. It is kept with the account's own prices. */
export const openDisplayCurrency =
  (table: Table): FindDisplayCurrency =>
  async (accountId) => {
    const item = await findItem(table, ownPricesKey(accountId), { consistent: false });
    return item === undefined ? null : parsePrices(String(item['json'])).currency;
  };
