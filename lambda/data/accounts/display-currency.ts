import { storedPrices } from '../../domain/own-prices/own-price.ts';
import type { DisplayCurrency } from '../../domain/spend/display-currency.ts';
import { findItem } from '../table/find-item.ts';
import { ownPricesKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

export type FindDisplayCurrency = (accountId: string) => Promise<DisplayCurrency | null>;

/** The currency that an account shows costs in; null for US dollars alone. It is kept with the account's own prices. */
export const openDisplayCurrency =
  (table: Table): FindDisplayCurrency =>
  async (accountId) => {
    const item = await findItem(table, ownPricesKey(accountId), { consistent: false });
    return item === undefined ? null : storedPrices.parse(JSON.parse(String(item['json']))).currency;
  };
