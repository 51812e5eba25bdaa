/** Shortest time from a failed read to the next, which runs in the background. */
const RETRY_MS = 1_000;
/** For this long after a failed read no request waits for the store: each uses what is cached, if anything. */
const DOWN_MS = 5_000;
const MAX_ENTRIES = 10_000;

/** The store did not respond and nothing is cached. */
export type Unavailable = 'unavailable';

interface Entry<V> {
  /** `unavailable`: never read. */
  value: V | Unavailable;
  readAt: number;
  failedAt: number;
}

interface Freshness<V> {
  /** From this age a value is read again before it is used. */
  readonly maxAgeMs: (value: V) => number;
  /** From this age a value is read again in the background, so that a busy name never waits for the store. */
  readonly refreshMs: number;
}

/** For items that change while requests run: a change is in force in every gateway after 5 s. */
export const SHORT_LIVED: Freshness<unknown> = { maxAgeMs: () => 5_000, refreshMs: 3_000 };

/**
 * Caches reads of the store in the process, by name. While the store is down, cached values stay valid, and only the first request for a
 * busy name waits. Concurrent reads of one name are shared.
 *
 * The returned function is usually synchronous, from the cache. It never rejects.
 *
 * @param now milliseconds. By default the clock of the day, since others stand still while Lambda freezes the process
 */
export const cachedReads = <V extends object | string>(
  read: (name: string) => Promise<V>,
  { maxAgeMs, refreshMs }: Freshness<V>,
  now: () => number = () => Date.now(),
): ((name: string) => V | Unavailable | Promise<V | Unavailable>) => {
  const entries = new Map<string, Entry<V>>();
  const inFlight = new Map<string, Promise<V | Unavailable>>();

  /** Where the clock was set back, nobody knows how long ago it was. */
  const msSince = (time: number): number => (time <= now() ? now() - time : Number.POSITIVE_INFINITY);

  /** What a read says is about now, unless the process was frozen meanwhile: then it is made again. */
  const readNow = async (name: string): Promise<V> => {
    const startedAt = now();
    const [result] = await Promise.allSettled([read(name)]);
    if (msSince(startedAt) >= DOWN_MS) return read(name);
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  };

  const remember = (name: string, entry: Entry<V>): void => {
    entries.delete(name);
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    entries.set(name, entry);
  };

  const refresh = (name: string): Promise<V | Unavailable> => {
    const shared = inFlight.get(name);
    if (shared) return shared;
    const reading = readNow(name)
      .then(
        (value): V | Unavailable => {
          remember(name, { value, readAt: now(), failedAt: Number.NEGATIVE_INFINITY });
          return value;
        },
        (): V | Unavailable => {
          const { value, readAt } = entries.get(name) ?? {
            value: 'unavailable' as const,
            readAt: Number.NEGATIVE_INFINITY,
          };
          remember(name, { value, readAt, failedAt: now() });
          return value;
        },
      )
      .finally(() => inFlight.delete(name));
    inFlight.set(name, reading);
    return reading;
  };

  return (name) => {
    const entry = entries.get(name);
    if (!entry) return refresh(name);
    const { value } = entry;
    const sinceFailure = msSince(entry.failedAt);
    if (sinceFailure < DOWN_MS) {
      if (sinceFailure >= RETRY_MS) void refresh(name);
      return value;
    }
    const age = msSince(entry.readAt);
    if (value === 'unavailable' || age >= maxAgeMs(value)) return refresh(name);
    if (age >= refreshMs) void refresh(name);
    return value;
  };
};
