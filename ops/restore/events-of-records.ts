import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { type UsageEvent, usageEventSchema } from '../../lambda/domain/usage/usage-event.ts';

/** The event a record was made of, so that another table's recorder can make the same of it. */
export const eventOfRecord = (record: RequestRecord): UsageEvent =>
  usageEventSchema.parse({
    ...record,
    // An event leaves out what a record says is null.
    client: record.client ?? undefined,
    session: record.session ?? undefined,
    version: 1,
    kind: record.outcome === 'unknown' || record.reading === null ? 'open' : 'close',
  });
