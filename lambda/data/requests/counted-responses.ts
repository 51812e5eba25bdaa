import * as z from 'zod/mini';
import { batchRead } from '../table/batch-read.ts';
import { countedResponseKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { readItem } from '../table/unreadable-item.ts';

/** A response that can be fetched again, by the id that the provider gave it. */
export interface ResponseName {
  readonly accountId: string;
  readonly provider: string;
  readonly responseId: string;
}

const stored = z.object({ pk: z.string(), sk: z.string(), requestId: z.string() });

/** One text for each response. */
export const responseKeyText = ({ accountId, provider, responseId }: ResponseName): string => {
  const { pk, sk } = countedResponseKey(accountId, provider, responseId);
  return `${pk}\n${sk}`;
};

/** Which responses the ledger counts, each with one request. */
export const openCountedResponses = (table: Table) => ({
  /** Ids of the requests that the responses are counted with, by responseKeyText; responses not counted yet are left out. @throws UnreadableItemError */
  find: async (names: readonly ResponseName[]): Promise<ReadonlyMap<string, string>> => {
    const keys = new Map(
      names.map((name) => [responseKeyText(name), countedResponseKey(name.accountId, name.provider, name.responseId)]),
    );
    const items = (await batchRead(table, [...keys.values()], { consistent: true })).map((item) =>
      readItem(() => stored.parse(item)),
    );
    return new Map(items.map(({ pk, sk, requestId }) => [`${pk}\n${sk}`, requestId]));
  },
});
