import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { CostDifference } from '../../domain/price/cost-differences.ts';
import { priceChangeKey, priceChangePrefix, spendPartition } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';

const storedSchema = z.object({
  version: z.int(),
  day: z.iso.date(),
  /** ISO 8601. */
  repricedAt: z.iso.datetime(),
  differences: z.array(
    z.object({
      provider: z.string(),
      model: z.nullable(z.string()),
      requests: z.int(),
      unknownBefore: z.int(),
      unknownAfter: z.int(),
      nanoUsdBefore: z.int(),
      nanoUsdAfter: z.int(),
    }),
  ),
});

/** What a version of the prices changed in the costs of one day. */
export type PriceChangeOfDay = z.infer<typeof storedSchema>;

/** Kept longer than the requests of most plans. */
const KEPT_SECONDS = 400 * 24 * 3_600;

/** What changed prices did to the costs of an account. */
export const openPriceChanges = (table: Table) => ({
  /** Notes a day's differences before they are made, once: a run that is repeated finds less to change, and does not count it again. */
  note: async (
    accountId: string,
    {
      version,
      day,
      repricedAt,
      differences,
    }: Omit<PriceChangeOfDay, 'differences'> & { differences: CostDifference[] },
  ): Promise<void> => {
    try {
      await table.client.send(
        new PutCommand({
          TableName: table.name,
          Item: {
            ...priceChangeKey(accountId, version, day),
            version,
            day,
            repricedAt,
            differences,
            expiresAt: Math.floor(Date.parse(repricedAt) / 1_000) + KEPT_SECONDS,
          },
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  /** All days of all versions, the newest version first. */
  async *of(accountId: string): AsyncGenerator<PriceChangeOfDay> {
    const query = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': spendPartition(accountId), ':prefix': `${priceChangePrefix}#` },
      ScanIndexForward: false,
    };
    for await (const item of queryItems(table, query)) yield storedSchema.parse(item);
  },
});

export type PriceChanges = ReturnType<typeof openPriceChanges>;
