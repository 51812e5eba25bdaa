import pMap from 'p-map';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { addDays, type Day, dayOf } from '../../domain/calendar/utc.ts';
import { update } from '../table/actions.ts';
import { batchDelete } from '../table/batch.ts';
import {
  type Key,
  MODEL_USE_SHARDS,
  modelUseKey,
  modelUsePartition,
  modelUsePrefix,
  parseModelUseSk,
} from '../table/keys.ts';
import { itemsIn, itemsUnder } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { write } from '../table/write.ts';

/** Days for which requests are priced again by themselves, today included. */
export const REPRICED_DAYS = 35;

/** An account that used a model on a day. */
export interface ModelUse {
  readonly day: Day;
  readonly accountId: string;
  readonly provider: string;
  readonly model: string;
}

const KEPT_DAYS = REPRICED_DAYS + 5;
const MAX_NOTED = 20_000;
const DAYS_AT_ONCE = 8;

/** Which accounts used which models on a day: what a changed price concerns is found without reading every account. */
export const openModelUse = (table: Table) => {
  const noted = new Set<string>();
  return {
    /** Writes once in a process. */
    note: async ({ day, accountId, provider, model }: ModelUse): Promise<void> => {
      const key = modelUseKey(day, shardOf(accountId, MODEL_USE_SHARDS), accountId, provider, model);
      const name = `${key.pk} ${key.sk}`;
      if (noted.has(name)) return;
      const expiresAt = Math.floor((Date.parse(day) + KEPT_DAYS * DAY_MS) / 1_000);
      await write(table, update(key, 'SET expiresAt = :expiresAt', null, { expiresAt }));
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.add(name);
    },

    /** The uses of a day, those of an account together. */
    async *of(day: Day): AsyncGenerator<ModelUse> {
      for (let shard = 0; shard < MODEL_USE_SHARDS; shard++) {
        const items = itemsIn(table, modelUsePartition(day, shard), { ProjectionExpression: 'sk' });
        for await (const { sk } of items) yield { day, ...parseModelUseSk(String(sk)) };
      }
    },

    /** Removes all uses of an account. @returns how many there were */
    remove: async (accountId: string, now: Date): Promise<number> => {
      const shard = shardOf(accountId, MODEL_USE_SHARDS);
      const today = dayOf(now.toISOString());
      const removed = await pMap(
        Array.from({ length: KEPT_DAYS + 2 }, (_, days) => modelUsePartition(addDays(today, 1 - days), shard)),
        async (pk) => {
          const keys: Key[] = [];
          const uses = { pk, sk: modelUsePrefix(accountId) };
          for await (const { sk } of itemsUnder(table, uses, { ProjectionExpression: 'sk', ConsistentRead: true }))
            keys.push({ pk, sk: String(sk) });
          await batchDelete(table, keys);
          return keys.length;
        },
        { concurrency: DAYS_AT_ONCE },
      );
      return removed.reduce((sum, each) => sum + each, 0);
    },
  };
};
