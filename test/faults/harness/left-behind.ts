import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOutbox } from '../../../lambda/data/ledger/outbox.ts';
import { parseRequestItem } from '../../../lambda/data/requests/request-item.ts';
import { OUTBOX_SHARDS } from '../../../lambda/data/table/keys.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { pagesOf } from '../../../ops/restore/carry-over.ts';

/** Events in the outbox. */
export const waitingInOutbox = async (table: Table): Promise<number> => {
  const outbox = openOutbox(table);
  let count = 0;
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
    for await (const page of outbox.pages(shard, 100)) count += page.length;
  return count;
};

/** Something a run left behind, to be searched. */
export interface Place {
  readonly name: string;
  readonly text: string;
}

/** Files as bytes: the emulators' of queue and table among them. Those that hold secrets by intent are not. */
export const filesUnder = async (folder: string): Promise<Place[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile() && entry.name !== 'secrets.json')
      .map(async (entry) => ({
        name: entry.name,
        text: (await readFile(join(entry.parentPath, entry.name))).toString('latin1'),
      })),
  );
};

/** An item as text, with its compressed attribute undone. */
const readable = (item: Record<string, unknown>): string =>
  JSON.stringify(String(item['pk']).includes('#REQ#') ? [item, parseRequestItem(item)] : item);

/** Every item of a table, as text. */
export const itemsOf = async (table: Table): Promise<string[]> =>
  (await Array.fromAsync(pagesOf(table, { consistent: true }))).flat().map(readable);

/** @throws AssertionError naming the kind of secret and the place */
export const assertNowhere = (secrets: Readonly<Record<string, string>>, places: readonly Place[]): void => {
  for (const [kind, value] of Object.entries(secrets))
    for (const { name, text } of places) assert.ok(!text.includes(value), `${kind} stands in ${name}`);
};

/** In megabytes, for the table of results. */
export const sizeOf = (places: readonly Place[]): string =>
  `${(places.reduce((sum, { text }) => sum + text.length, 0) / 2 ** 20).toFixed(1)} MB`;
