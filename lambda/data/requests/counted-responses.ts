import * as z from 'zod/mini';
import { batchRead } from '../table/batch-read.ts';
import { countedAnswerKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** An answer that can be fetched again, as the provider names it. */
export interface AnswerName {
  readonly accountId: string;
  readonly provider: string;
  readonly answerId: string;
}

const stored = z.object({ pk: z.string(), sk: z.string(), requestId: z.string() });

/** One text for one answer. */
export const answerKeyText = ({ accountId, provider, answerId }: AnswerName): string => {
  const { pk, sk } = countedAnswerKey(accountId, provider, answerId);
  return `${pk}\n${sk}`;
};

/** Which requests answers were counted with, by answerKeyText; those counted nowhere yet are left out. */
export const findCountedAnswers = async (
  table: Table,
  names: readonly AnswerName[],
): Promise<ReadonlyMap<string, string>> => {
  const keys = new Map(
    names.map((name) => [answerKeyText(name), countedAnswerKey(name.accountId, name.provider, name.answerId)]),
  );
  const items = (await batchRead(table, [...keys.values()], { consistent: true })).map((item) => stored.parse(item));
  return new Map(items.map(({ pk, sk, requestId }) => [`${pk}\n${sk}`, requestId]));
};
