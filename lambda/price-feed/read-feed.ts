import { hash } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { PriceFeed, PriceVersions } from '../data/prices/price-versions.ts';
import { HOUR_MS } from '../domain/calendar/units.ts';
import type { FeedSource } from '../domain/price/feed/feed-sources.ts';
import { readModelsDev } from '../domain/price/feed/models-dev.ts';
import { type FetchedLists, nextLists } from '../domain/price/feed/next-lists.ts';
import { readGenaiPrices } from '../domain/price/feed/read-genai-prices.ts';
import type { PriceLists } from '../domain/price/price-book.ts';
import type { FileLimits } from '../integrations/read-public-file.ts';
import type { MetricLog } from '../on-schedule.ts';

interface FeedDependencies {
  readonly sources: Partial<Record<FeedSource, string>>;
  readonly versions: Pick<PriceVersions, 'readFeed' | 'read' | 'save'>;
  readonly readFile: (url: string, limits: FileLimits) => Promise<Buffer>;
  readonly logger: Pick<Logger, 'info' | 'error' | 'warn'>;
  readonly metrics: MetricLog;
  readonly now: () => Date;
}

/** models.dev has 3 MB, genai-prices 1 MB (2026-11). */
const LIMITS: FileLimits = { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 };

const readers: Readonly<Record<FeedSource, (json: unknown) => FetchedLists>> = {
  'genai-prices': (json) => ({ 'genai-prices': readGenaiPrices(json) }),
  'models.dev': (json) => ({ 'models.dev': readModelsDev(json) }),
};

/** A run of the price feed. A source that fails is left out of it, and read again in the next. */
export const readFeed =
  ({ sources, versions, readFile, logger, metrics, now }: FeedDependencies) =>
  async (): Promise<void> => {
    const count = (name: string, value: number) => metrics.addMetric(name, MetricUnit.Count, value);

    const fetchAll = async () => {
      const hashes: Record<string, string> = {};
      let lists: FetchedLists = {};
      for (const [source, url] of Object.entries(sources) as [FeedSource, string][]) {
        try {
          const bytes = await readFile(url, LIMITS);
          lists = { ...lists, ...readers[source](JSON.parse(bytes.toString('utf8'))) };
          hashes[source] = hash('sha256', bytes);
        } catch (error) {
          const { name, message } = error as Error;
          // A parser's message quotes what it read.
          logger.error('Prices not read', {
            source,
            errorName: name,
            ...(name === 'UnreadableFileError' && { message }),
          });
        }
      }
      return { lists, hashes };
    };

    /** Reads the lists of the newest version, else those in the code. */
    const currentLists = async ({ version, sha256 }: PriceFeed): Promise<PriceLists> => {
      try {
        if (version > 0) return await versions.read(version, sha256 ?? undefined);
      } catch (error) {
        logger.error('Newest prices cannot be read: beginning again with those in the code', {
          version,
          errorName: (error as Error).name,
        });
      }
      return (await import('#bundled-lists')).bundledLists;
    };

    const update = async (feed: PriceFeed): Promise<PriceFeed> => {
      const { lists: fetched, hashes } = await fetchAll();
      const names = Object.keys(sources);
      const isComplete = names.every((source) => hashes[source] !== undefined);
      const checkedAt = isComplete ? now().toISOString() : feed.checkedAt;
      const isKnown = Object.entries(hashes).every(([source, sha256]) => feed.sources[source] === sha256);
      const checked = { ...feed, checkedAt, sources: { ...feed.sources, ...hashes } };
      if (isKnown) {
        await versions.save(checked);
        return checked;
      }
      const next = nextLists(await currentLists(feed), fetched, {
        now: now(),
        waiting: feed.waiting,
        nextNumber: feed.nextNumber,
      });
      for (const source of next.refused) logger.error('Published prices refused', { source });
      count('RefusedPriceSources', next.refused.length);
      const saved = { ...checked, waiting: next.waiting, nextNumber: next.nextNumber };
      const version = { lists: next.lists, changes: next.changes, acceptedAt: now().toISOString() };
      // Another run was faster: its successor does what is left.
      if (!(await versions.save(saved, next.isChanged ? version : undefined))) return feed;
      if (next.isChanged)
        logger.info('New version of the prices', { version: feed.version + 1, changes: next.changes.length });
      return saved;
    };

    const before = await versions.readFeed();
    const { checkedAt, waiting } = await update(before);
    count(
      'WaitingPriceChanges',
      waiting.filter(({ decision, why }) => decision === null && why !== 'oneSource').length,
    );
    // A feed that was never read is as old as can be.
    const ageMs = checkedAt === null ? 1_000 * HOUR_MS : now().getTime() - Date.parse(checkedAt);
    if (Object.keys(sources).length > 0) metrics.addMetric('PriceFeedAgeMs', MetricUnit.Milliseconds, ageMs);
  };
