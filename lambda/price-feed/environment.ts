import * as z from 'zod/mini';
import { type FeedSource, feedSources } from '../domain/price/feed/feed-sources.ts';
import type { PriceFeedEnvironment } from '../environment.ts';

const text = z.string().check(z.minLength(1));
const schema: z.ZodMiniType<PriceFeedEnvironment> = z.object({
  TABLE_NAME: text,
  POWERTOOLS_METRICS_NAMESPACE: text,
  PRICE_FEED_SOURCES: text,
});
const sourcesSchema = z.partialRecord(z.enum(feedSources), z.url());

/** @throws $ZodError with the names of missing variables */
export const parsePriceFeedEnvironment = (variables: Readonly<Record<string, string | undefined>>) => {
  const { TABLE_NAME, PRICE_FEED_SOURCES } = schema.parse(variables);
  const sources: Partial<Record<FeedSource, string>> = sourcesSchema.parse(JSON.parse(PRICE_FEED_SOURCES));
  return { tableName: TABLE_NAME, sources };
};
