import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Day } from '../../domain/calendar/utc.ts';
import { MODEL_USE_SHARDS, modelUseKey, modelUsePartition, parseModelUseSk } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';

/** Days for which requests are priced again by themselves, today included. */
export const REPRICED_DAYS = 35;

/** An account that used a model on a day. */
export interface ModelUse {
  readonly day: Day;
  readonly accountId: string;
  readonly provider: string;
  readonly model: string;
}

const MAX_NOTED = 20_000;

/** Which accounts used which models on a day: what a changed price concerns is found without reading every account. */
export const openModelUse = (table: Table) => {
  const noted = new Set<string>();
  return {
    /** Writes once in a process. */
    note: async ({ day, accountId, provider, model }: ModelUse): Promise<void> => {
      const key = modelUseKey(day, shardOf(accountId, MODEL_USE_SHARDS), accountId, provider, model);
      const name = `${key.pk} ${key.sk}`;
      if (noted.has(name)) return;
      const expiresAt = Math.floor((Date.parse(day) + (REPRICED_DAYS + 5) * DAY_MS) / 1_000);
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: key,
          UpdateExpression: 'SET expiresAt = :expiresAt',
          ExpressionAttributeValues: { ':expiresAt': expiresAt },
        }),
      );
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.add(name);
    },

    /** The uses of a day, those of an account together. */
    async *of(day: Day): AsyncGenerator<ModelUse> {
      for (let shard = 0; shard < MODEL_USE_SHARDS; shard++) {
        const query = {
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': modelUsePartition(day, shard) },
          ProjectionExpression: 'sk',
        };
        for await (const { sk } of queryItems(table, query)) yield { day, ...parseModelUseSk(String(sk)) };
      }
    },
  };
};
