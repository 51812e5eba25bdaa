import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { NotFoundError } from '../../domain/errors.ts';
import { type SourcedChange, type WaitingChange, waitingChangeSchema } from '../../domain/price/feed/next-lists.ts';
import type { PriceLists } from '../../domain/price/price-book.ts';
import { priceDoubts } from '../../domain/price/rates.ts';
import { IS_NEW, put, update } from '../table/actions.ts';
import { priceFeedKey, priceVersionKey } from '../table/keys.ts';
import { findItem, itemsUnder } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryTransact, write } from '../table/write.ts';

/** A version that is stored is not what was written, or cannot be read. */
class BrokenPriceVersionError extends Error {
  override readonly name = 'BrokenPriceVersionError';
}

const feedSchema = z.object({
  /** Counts the writes. */
  revision: z._default(z.int(), 0),
  /** Number of the newest version; 0 before the first. */
  version: z._default(z.int(), 0),
  sha256: z._default(z.nullable(z.string()), null),
  /** When all sources were read last, ISO 8601. */
  checkedAt: z._default(z.nullable(z.string()), null),
  /** SHA-256 of what each source published last. */
  sources: z._default(z.record(z.string(), z.string()), {}),
  waiting: z.optional(z.custom<Uint8Array>((value) => value instanceof Uint8Array)),
  nextNumber: z._default(z.int(), 1),
});

/** The state of the feed. */
export interface PriceFeed extends Omit<z.infer<typeof feedSchema>, 'waiting'> {
  readonly waiting: readonly WaitingChange[];
}

/** A version without its lists. */
export interface VersionSummary {
  readonly number: number;
  readonly acceptedAt: string;
  readonly sha256: string;
  readonly changes: readonly SourcedChange[];
}

const pack = (value: unknown): Buffer => gzipSync(JSON.stringify(value), { level: 9 });
/** Past this a stored value was not written by us. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
const unpack = (bytes: Uint8Array): unknown =>
  JSON.parse(gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }).toString('utf8'));

const versionSchema = z.object({
  acceptedAt: z.iso.datetime(),
  sha256: z.string(),
  lists: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  changes: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
});
const listsSchema = z.object({
  genaiPrices: z.record(
    z.string(),
    z.looseObject({ id: z.string(), models: z.array(z.looseObject({ id: z.string() })) }),
  ),
  secondPrices: z.object({ name: z.string(), prices: z.record(z.string(), z.record(z.string(), z.looseObject({}))) }),
  asOf: z.optional(z.record(z.string(), z.string())),
  doubts: z.optional(z.record(z.string(), z.enum(priceDoubts))),
});

/** An item has 400 kB at most. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const MAX_LIST_BYTES = 300_000;
/** More are not worth a person's reading, and would not fit. */
const MAX_CHANGES = 2_000;

/** Versions of the price lists: numbered, dated, and named by their SHA-256. */
export const openPriceVersions = (table: Table) => {
  const readFeed = async (): Promise<PriceFeed> => {
    const { waiting, ...feed } = feedSchema.parse((await findItem(table, priceFeedKey())) ?? {});
    return { ...feed, waiting: waiting ? z.array(waitingChangeSchema).parse(unpack(waiting)) : [] };
  };

  const replaceFeed = ({ waiting, ...feed }: PriceFeed, revision: number) => {
    const item = { ...priceFeedKey(), ...feed, waiting: pack(waiting), revision: revision + 1 };
    return revision === 0 ? put(item, IS_NEW) : put(item, 'revision = :revision', { revision });
  };

  return {
    readFeed,

    /** Number and SHA-256 of the newest version; null before the first. Costs one small read. */
    newest: async (): Promise<{ readonly number: number; readonly sha256: string } | null> => {
      const item = await findItem(table, priceFeedKey(), { consistent: false, attributes: '#version, sha256' });
      const { version, sha256 } = feedSchema.parse(item ?? {});
      return version > 0 && sha256 !== null ? { number: version, sha256 } : null;
    },

    /**
     * The lists of a version.
     *
     * @param sha256 what they must have; where it is left out, what is stored with them
     * @throws BrokenPriceVersionError
     */
    read: async (number: number, sha256?: string): Promise<PriceLists> => {
      const version = versionSchema.safeParse(await findItem(table, priceVersionKey(number), { consistent: false }));
      if (!version.success) throw new BrokenPriceVersionError(`Version ${number} of the prices cannot be read.`);
      const { lists, sha256: stored } = version.data;
      if (hash('sha256', lists) !== (sha256 ?? stored))
        throw new BrokenPriceVersionError(`Version ${number} of the prices is not what was written.`);
      try {
        return listsSchema.parse(unpack(lists)) as unknown as PriceLists;
      } catch (error) {
        throw new BrokenPriceVersionError(`Version ${number} of the prices cannot be read.`, { cause: error });
      }
    },

    /** The versions, newest first. */
    async *list(): AsyncGenerator<VersionSummary> {
      const newestFirst = { ScanIndexForward: false, ProjectionExpression: 'sk, acceptedAt, sha256, changes' };
      for await (const item of itemsUnder(table, { ...priceFeedKey(), sk: 'VERSION#' }, newestFirst)) {
        const { acceptedAt, sha256, changes } = versionSchema.parse({ ...item, lists: new Uint8Array() });
        const number = Number(String(item['sk']).split('#')[1]);
        yield { number, acceptedAt, sha256, changes: unpack(changes) as SourcedChange[] };
      }
    },

    /**
     * Saves how the feed stands, with a new version where lists are given. False where somebody else wrote since it was read: nothing is
     * saved then.
     *
     * @throws BrokenPriceVersionError for lists that do not fit
     */
    save: async (
      feed: PriceFeed,
      next?: { readonly lists: PriceLists; readonly changes: readonly SourcedChange[]; readonly acceptedAt: string },
    ): Promise<boolean> => {
      const { revision } = feed;
      let saved = feed;
      const version = [];
      if (next) {
        const lists = pack(next.lists);
        if (lists.length > MAX_LIST_BYTES)
          throw new BrokenPriceVersionError(`The prices have ${lists.length} bytes, more than ${MAX_LIST_BYTES}.`);
        const sha256 = hash('sha256', lists);
        const number = feed.version + 1;
        saved = { ...feed, version: number, sha256 };
        const { acceptedAt, changes } = next;
        const packed = { lists, changes: pack(changes.slice(0, MAX_CHANGES)) };
        version.push(put({ ...priceVersionKey(number), acceptedAt, sha256, ...packed }, IS_NEW));
      }
      const kept = { ...saved, waiting: saved.waiting.slice(0, MAX_CHANGES) };
      return tryTransact(table, [...version, replaceFeed(kept, revision)]);
    },

    /**
     * Decides on a change that waits. The feed's next run applies it.
     *
     * @throws NotFoundError
     */
    decide: async (number: number, decision: 'accepted' | 'refused'): Promise<void> => {
      const feed = await readFeed();
      if (!feed.waiting.some((each) => each.number === number))
        throw new NotFoundError(`No price change with the number ${number} waits.`);
      const waiting = feed.waiting.map((each) => (each.number === number ? { ...each, decision } : each));
      // Without the sources' hashes, the next run compares their data again.
      const change = 'SET waiting = :waiting, sources = :none, revision = :next';
      const { revision } = feed;
      await write(
        table,
        update(priceFeedKey(), change, 'revision = :revision', {
          ...{ waiting: pack(waiting), none: {}, next: revision + 1, revision },
        }),
      );
    },
  };
};

export type PriceVersions = ReturnType<typeof openPriceVersions>;
