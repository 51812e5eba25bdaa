import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { type Measures, measuresSchema, NO_MEASURES, type UseSample, withMeasures } from '../../domain/limits/bound.ts';
import { IS_NEW, put } from '../table/actions.ts';
import { measuresKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { RETRY, retryConflicts, tryWrite } from '../table/write.ts';

const storedJson = z.optional(z.string());

/** Measures of the budgets of accounts. */
export const openMeasures = (table: Table) => {
  const read = async (accountId: string, consistent: boolean) => {
    const json = storedJson.parse((await findItem(table, measuresKey(accountId), { consistent }))?.['json']);
    return { json, measures: json === undefined ? NO_MEASURES : measuresSchema.parse(JSON.parse(json)) };
  };
  return {
    read: async (accountId: string): Promise<Measures> => (await read(accountId, false)).measures,

    /** @param lagMs from the start of a request until now, when it was judged */
    note: (accountId: string, samples: readonly UseSample[], now: Date, lagMs?: number): Promise<void> =>
      retryConflicts(async () => {
        const { json, measures } = await read(accountId, true);
        const after = withMeasures(measures, samples, now, lagMs);
        if (isDeepStrictEqual(measures, after)) return undefined;
        const item = { ...measuresKey(accountId), json: JSON.stringify(after) };
        const change = json === undefined ? put(item, IS_NEW) : put(item, 'json = :json', { json });
        return (await tryWrite(table, change)) ? undefined : RETRY;
      }),
  };
};

export type MeasureStore = ReturnType<typeof openMeasures>;
