import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { loadBundledBook, openPriceBook } from '../../domain/price/price-book.ts';
import type { PriceBook } from '../../domain/price/rates.ts';
import type { PriceVersions } from './price-versions.ts';

/** A process asks for a newer version so often. In between, a batch reads nothing. */
const REFRESH_MS = 5 * MINUTE_MS;
/** Versions before the newest that are tried where it is broken. */
const MAX_STEPS_BACK = 3;

interface Options {
  readonly versions: Pick<PriceVersions, 'newest' | 'read'>;
  /** Called where the newest version cannot be used. */
  readonly onFallback: (error: Error) => void;
  readonly now?: () => number;
}

/**
 * The price book of the newest accepted version, at most five minutes late. Where it is broken or the table does not respond: the book
 * in use, else the newest one before it that can be read, else the book in the code. Never rejects.
 */
export const openNewestBook = ({ versions, onFallback, now = Date.now }: Options): (() => Promise<PriceBook>) => {
  let book: PriceBook | undefined;
  /** The version of the book in use; 0 is the one in the code. */
  let number = 0;
  let checkedMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | null = null;

  const use = async (version: number, sha256?: string) => {
    book = openPriceBook(await versions.read(version, sha256), String(version));
    number = version;
  };

  const stepBack = async (newest: number) => {
    for (let version = newest - 1; version > Math.max(0, newest - 1 - MAX_STEPS_BACK); version--) {
      try {
        return await use(version);
      } catch {
        // The one before it may be good.
      }
    }
  };

  const refresh = async () => {
    let wanted = 0;
    try {
      const newest = await versions.newest();
      wanted = newest?.number ?? 0;
      if (newest && newest.number !== number) await use(newest.number, newest.sha256);
    } catch (error) {
      onFallback(error as Error);
      if (number === 0) await stepBack(wanted);
    }
    checkedMs = now();
    refreshing = null;
  };

  return async () => {
    if (now() - checkedMs >= REFRESH_MS) {
      refreshing ??= refresh();
      await refreshing;
    }
    book ??= await loadBundledBook();
    return book;
  };
};
