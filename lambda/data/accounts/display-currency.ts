import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { storedPrices } from '../../domain/own-prices/own-price.ts';
import type { DisplayCurrency } from '../../domain/spend/display-currency.ts';
import { ownPricesKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

export type FindDisplayCurrency = (accountId: string) => Promise<DisplayCurrency | null>;

/** The currency that an account shows costs in; null for US dollars alone. It is kept with the account's own prices. */
export const openDisplayCurrency =
  ({ client, name }: Table): FindDisplayCurrency =>
  async (accountId) => {
    const { Item } = await client.send(new GetCommand({ TableName: name, Key: { ...ownPricesKey(accountId) } }));
    return Item === undefined ? null : storedPrices.parse(JSON.parse(String(Item['json']))).currency;
  };
