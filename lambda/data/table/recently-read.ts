import QuickLRU from 'quick-lru';
import { MINUTE_MS } from '../../domain/calendar/units.ts';

/**
 * Reads something by its id, and keeps it for a minute. What is not there is read each time. Where the clock was set back, all is read
 * again: it would be kept for as long otherwise. The clock of the day counts, since others stand still while Lambda freezes the process.
 *
 * @returns takes an id, and whether what is kept is good enough
 */
export const recentlyRead = <V>(
  read: (id: string) => Promise<V>,
  maxSize: number,
  now: () => number = () => Date.now(),
): ((id: string, isEnough?: (value: V & {}) => boolean) => Promise<V>) => {
  const cache = new QuickLRU<string, { readonly value: V & {}; readonly readAtMs: number }>({ maxSize });
  return async (id, isEnough = () => true) => {
    const cached = cache.get(id);
    const readAtMs = now();
    const isRecent = cached && cached.readAtMs <= readAtMs && readAtMs < cached.readAtMs + MINUTE_MS;
    if (isRecent && isEnough(cached.value)) return cached.value;
    const value = await read(id);
    if (value) cache.set(id, { value, readAtMs });
    return value;
  };
};
