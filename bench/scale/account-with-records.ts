import { type EmulatedTable, emulatedTable } from '../../fixtures/emulated-table.ts';
import { openRollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { ROLLUP_MARK_SHARDS, requestPartition, serviceKeyKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { pagesOf } from '../../ops/restore/carry-over.ts';
import { exportLine, filledTable } from '../emulated/filled-table.ts';
import { chatCompletion, models, requestIdAt } from '../events/chat-completion.ts';

export const ACCOUNT = 'svc_scale';
export const SERVICE_KEY = 'svc_x';
/** Days that the records are spread over, today among them. */
export const DAYS = 28;

const tags = ['checkout', 'search', 'support', null];
/** Each model with each tag. */
const CROSSES = models.length * tags.length;

/** The nth of some requests of the account. */
export const requestAt = (ms: number, n: number): CloseEvent => chatCompletion(ACCOUNT, tags, n, ms);

/** Twelve requests a day, one of each cross, through the recorder; closed days are rolled up. */
const recordDays = async (table: Table, now: Date): Promise<void> => {
  const record = openRecorder(table, { logger: { error: console.error } });
  for (let day = 0; day < DAYS; day++) {
    const startOfDay = Math.floor(now.getTime() / DAY_MS - day) * DAY_MS;
    const results = await record(Array.from({ length: CROSSES }, (_, n) => requestAt(startOfDay + n, n)));
    if (results.some(({ kind }) => kind !== 'recorded')) throw new Error('A request was not recorded.');
  }
  const marks = openRollupMarks(table, () => now.getTime());
  const { rollUp } = openRollup(table);
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const mark of marks.due(shard)) await rollUp(mark);
};

const itemsOf = async (table: Table): Promise<Record<string, unknown>[]> =>
  (await Array.fromAsync(pagesOf(table, { consistent: false }))).flat();

/** The lines, and of each request record as many copies under ids of its day as make so many records in all. */
function* withCopies(items: readonly Record<string, unknown>[], records: number): Generator<string> {
  const isRecord = ({ pk }: Record<string, unknown>) => String(pk).startsWith(requestPartition(ACCOUNT, ''));
  const copies = Math.max(0, Math.floor(records / items.filter(isRecord).length) - 1);
  for (const item of items) {
    const line = exportLine(item);
    yield line;
    if (!isRecord(item)) continue;
    const id = item['sk'] as string;
    const startOfDay = Date.parse(String(item['pk']).slice(requestPartition(ACCOUNT, '').length));
    for (let n = 1; n <= copies; n++)
      yield line.replace(id, requestIdAt(startOfDay + 1_000 + Math.floor((n * (DAY_MS - 2_000)) / copies)));
  }
}

/**
 * A table with one account of so many request records. Spend counters and summaries are those of its twelve crosses of model and tag,
 * whatever the number of records: that is what bounds them.
 */
export const accountWithRecords = async (
  records: number,
  now: Date,
): Promise<{ readonly table: EmulatedTable; readonly someId: string }> => {
  const seed = await emulatedTable();
  try {
    await recordDays(seed, now);
    const key = {
      ...serviceKeyKey(secretHash(SERVICE_KEY)),
      accountId: ACCOUNT,
      keyId: 'key-1',
      keyStatus: 'active',
      accountStatus: 'active',
    };
    const items = [key, ...(await itemsOf(seed))];
    const someId = items.find(({ pk }) => String(pk).startsWith(requestPartition(ACCOUNT, '')))?.['sk'] as string;
    return { table: await filledTable(withCopies(items, records)), someId };
  } finally {
    await seed.stop();
  }
};
