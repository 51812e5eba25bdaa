import { gunzipSync, gzipSync } from 'node:zlib';
import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { UnreadableItemError } from '../../domain/errors.ts';
import { withCurrentNames } from '../../domain/spend/former-names.ts';
import { type RequestRecord, requestRecordSchema } from '../../domain/spend/request-record.ts';
import { readItem } from '../table/read.ts';

/**
 * The file of a day: its request records as JSON lines, newest first, in blocks that are gzip members of their own, so that any tool reads
 * the whole file. Behind them is the index, a gzip member too, with the ids and the place of each block: one small read finds a block.
 */

/** Reads part of an object; undefined if there is none. */
export interface ObjectReader {
  getRange(key: string, from: number, to: number): Promise<Uint8Array | undefined>;
}

/** For readers of days that are always in the table. */
export const noObjects: ObjectReader = {
  getRange: async () => {
    throw new Error('The records of the day have left the table, and this function has no access to their file.');
  },
};

/** A complete file, as the table names it. */
export const dayFileSchema = z.object({
  key: z.string(),
  requests: z.int(),
  bytes: z.int(),
  /** Where the index begins. */
  indexAt: z.int(),
  /** Epoch seconds after which no record of it is shown. */
  expiresAt: z.int(),
});
export type DayFile = Readonly<z.infer<typeof dayFileSchema>>;

/** A block: its highest and lowest id, and its bytes. */
const indexSchema = z.array(z.tuple([z.string(), z.string(), z.int(), z.int()]));
type Index = z.infer<typeof indexSchema>;

/** Records of a block: what a random read parses, and what an object store is paid a request for. */
export const BLOCK_RECORDS = 500;

/** Indexes of files that pages read lately. A file never changes. */
const indexes = new QuickLRU<string, Index>({ maxSize: 64 });

const LINE_START = '{"requestId":"';
const lineOf = ({ requestId, ...record }: RequestRecord): string => `${JSON.stringify({ requestId, ...record })}\n`;
const idOfLine = (line: string): string => line.slice(LINE_START.length, line.indexOf('"', LINE_START.length));
/** @throws UnreadableItemError */
const recordOfLine = (line: string): RequestRecord =>
  readItem(() => requestRecordSchema.parse(withCurrentNames(JSON.parse(line) as Record<string, unknown>)));

/** Encodes the records of a day, newest first. Each call returns the bytes to append. */
export const encodeDayFile = () => {
  const index: Index = [];
  let bytes = 0;
  let requests = 0;
  let expiresAt = 0;
  return {
    /** @param records the next ones; up to BLOCK_RECORDS */
    block: (records: readonly RequestRecord[]): Uint8Array => {
      const body = gzipSync(records.map(lineOf).join(''));
      const [first, last] = [records[0] as RequestRecord, records.at(-1) as RequestRecord];
      index.push([first.requestId, last.requestId, bytes, bytes + body.length]);
      bytes += body.length;
      requests += records.length;
      expiresAt = records.reduce((latest, record) => Math.max(latest, record.expiresAt), expiresAt);
      return body;
    },
    end: (): { readonly body: Uint8Array; readonly file: Omit<DayFile, 'key'> } => {
      const body = gzipSync(JSON.stringify(index));
      return { body, file: { requests, bytes: bytes + body.length, indexAt: bytes, expiresAt } };
    },
  };
};

/** The object that a file's entry names is not there. */
class MissingDayFileError extends Error {
  override readonly name = 'MissingDayFileError';
}

const read = async (objects: ObjectReader, { key }: DayFile, from: number, to: number): Promise<string> => {
  const bytes = await objects.getRange(key, from, to);
  if (bytes === undefined) throw new MissingDayFileError('The file of a day is not in the bucket, or may not be read.');
  return gunzipSync(bytes).toString('utf8');
};

const readIndex = async (objects: ObjectReader, file: DayFile): Promise<Index> => {
  const known = indexes.get(file.key);
  if (known) return known;
  const index = indexSchema.parse(JSON.parse(await read(objects, file, file.indexAt, file.bytes)));
  indexes.set(file.key, index);
  return index;
};

const linesOf = async (objects: ObjectReader, file: DayFile, [, , from, to]: Index[number]): Promise<string[]> =>
  (await read(objects, file, from, to)).split('\n').filter((line) => line !== '');

/**
 * The newest records below an id, of one block.
 *
 * @param query.session leaves out nearly all records of other sessions
 * @returns also ids of records that cannot be read, and the id below which there may be more
 */
export const readBelow = async (
  objects: ObjectReader,
  file: DayFile,
  query: { readonly lowest: string; readonly below: string; readonly session?: string | undefined },
): Promise<{ records: RequestRecord[]; unreadable: string[]; below: string | undefined }> => {
  const index = await readIndex(objects, file);
  const at = index.findIndex(([, lowest]) => lowest < query.below);
  const block = index[at];
  if (!block || block[0] < query.lowest) return { records: [], unreadable: [], below: undefined };
  const mark = query.session === undefined ? '' : JSON.stringify(query.session);
  const records: RequestRecord[] = [];
  const unreadable: string[] = [];
  for (const line of await linesOf(objects, file, block)) {
    const id = idOfLine(line);
    if (id < query.lowest || id >= query.below || !line.includes(mark)) continue;
    try {
      records.push(recordOfLine(line));
    } catch (error) {
      if (!(error instanceof UnreadableItemError)) throw error;
      unreadable.push(id);
    }
  }
  const following = index[at + 1];
  return { records, unreadable, below: following && following[0] >= query.lowest ? block[1] : undefined };
};

/** One record; undefined where the file has none of this id. @throws UnreadableItemError */
export const readOne = async (objects: ObjectReader, file: DayFile, requestId: string) => {
  const block = (await readIndex(objects, file)).find(([, lowest]) => lowest <= requestId);
  if (!block || block[0] < requestId) return undefined;
  const line = (await linesOf(objects, file, block)).find((each) => idOfLine(each) === requestId);
  return line === undefined ? undefined : recordOfLine(line);
};

/** All records, a block at a time. @throws UnreadableItemError */
export async function* readBlocks(objects: ObjectReader, file: DayFile): AsyncGenerator<RequestRecord[]> {
  for (const block of await readIndex(objects, file)) yield (await linesOf(objects, file, block)).map(recordOfLine);
}
