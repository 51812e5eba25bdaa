import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { type Measures, measuresSchema, NO_MEASURES, type UseSample, withMeasures } from '../../domain/limits/bound.ts';
import { put } from '../table/actions.ts';
import { measuresKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

/** Measures of the budgets of accounts. Of two writers at one moment, the last counts: the next sample makes up for it. */
export const openMeasures = (table: Table) => {
  const read = async (accountId: string): Promise<Measures> => {
    const item = await findItem(table, measuresKey(accountId), { consistent: false });
    const json = z.optional(z.string()).parse(item?.['json']);
    return json === undefined ? NO_MEASURES : measuresSchema.parse(JSON.parse(json));
  };
  return {
    read,
    /** @param lagMs from the start of a request until now, when it was judged */
    note: async (accountId: string, samples: readonly UseSample[], now: Date, lagMs?: number): Promise<void> => {
      const before = await read(accountId);
      const after = withMeasures(before, samples, now, lagMs);
      if (isDeepStrictEqual(before, after)) return;
      await write(table, put({ ...measuresKey(accountId), json: JSON.stringify(after) }));
    },
  };
};

export type MeasureStore = ReturnType<typeof openMeasures>;
