import * as z from 'zod/mini';
import { batchRead } from '../table/batch-read.ts';
import { countedResponseKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** An answer that can be fetched again, as the provider names it. */
export interface ResponseName {
  readonly accountId: string;
  readonly provider: string;
  readonly responseId: string;
}

const stored = z.object({ pk: z.string(), sk: z.string(), requestId: z.string() });

/** One text for one answer. */
export const responseKeyText = ({ accountId, provider, responseId }: ResponseName): string => {
  const { pk, sk } = countedResponseKey(accountId, provider, responseId);
  return `${pk}\n${sk}`;
};

/** Which requests answers were counted with, by responseKeyText; those counted nowhere yet are left out. */
export const findCountedResponses = async (
  table: Table,
  names: readonly ResponseName[],
): Promise<ReadonlyMap<string, string>> => {
  const keys = new Map(
    names.map((name) => [responseKeyText(name), countedResponseKey(name.accountId, name.provider, name.responseId)]),
  );
  const items = (await batchRead(table, [...keys.values()], { consistent: true })).map((item) => stored.parse(item));
  return new Map(items.map(({ pk, sk, requestId }) => [`${pk}\n${sk}`, requestId]));
};
