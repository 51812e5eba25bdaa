import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { OutboxEntry, openOutbox } from '../../data/ledger/outbox.ts';
import { OUTBOX_SHARDS } from '../../data/table/keys.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { UsageEvent } from '../../domain/usage/usage-event.ts';
import { PoisonEventError, parseUsageEvent } from '../parse-event.ts';
import type { EventResult } from '../record-events.ts';
import type { Recorder } from '../recorder.ts';
import { type ReportLogger, type ReportMetrics, reportResults } from '../report.ts';

interface SweepDependencies {
  readonly parked: ReturnType<typeof openOutbox>;
  readonly record: Recorder;
  readonly logger: ReportLogger;
  readonly metrics: ReportMetrics;
  readonly now: () => number;
}

const PAGE_SIZE = 100;
/** An event that could not be recorded for this long, by a table that can be read all the while, never will be. */
const MAX_WAIT_MS = DAY_MS;
/** What recording one page may take at worst. */
const PAGE_MS = 15_000;

type Parsed = { readonly parked: OutboxEntry; readonly event: UsageEvent };

/** Why an event must be set aside; null where it need not. */
const reasonToRefuse = (result: EventResult, { parkedAt }: OutboxEntry, now: number): string | null => {
  if (result.kind !== 'failed') return null;
  const name = result.error instanceof Error ? result.error.name : 'Error';
  if (result.permanent) return `The table refuses it: ${name}`;
  return now - Date.parse(parkedAt) > MAX_WAIT_MS ? `Could not be recorded for a day: ${name}` : null;
};

/**
 * Records the usage events that were written to the table while the queue was down, and takes away each that is recorded.
 * What cannot be recorded yet stays for the next run; what never can is set aside with the reason.
 *
 * @param remainingMs time left for this run
 */
export const sweepOutbox =
  ({ parked, record, logger, metrics, now }: SweepDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const setAside = async (event: OutboxEntry, reason: string): Promise<void> => {
      logger.error('Parked event set aside', { parkedEvent: event.key.sk, reason });
      metrics.addMetric('RefusedOutboxEntries', MetricUnit.Count, 1);
      await parked.setAside(event, reason);
    };

    const parse = async (page: readonly OutboxEntry[]): Promise<Parsed[]> => {
      const parsed: Parsed[] = [];
      for (const each of page) {
        try {
          parsed.push({ parked: each, event: parseUsageEvent(each.event) });
        } catch (error) {
          if (!(error instanceof PoisonEventError)) throw error;
          await setAside(each, error.message);
        }
      }
      return parsed;
    };

    /** @returns true where the page was worked off, false where events of it must wait */
    const sweepPage = async (page: readonly OutboxEntry[]): Promise<boolean> => {
      const parsed = await parse(page);
      const events = parsed.map(({ event }) => event);
      const results = await record(events);
      reportResults({ logger, metrics }, events, results);
      const done: OutboxEntry[] = [];
      let waiting = 0;
      for (const [index, each] of parsed.entries()) {
        const result = results[index] as EventResult;
        const reason = reasonToRefuse(result, each.parked, now());
        if (reason !== null) await setAside(each.parked, reason);
        else if (result.kind === 'failed') waiting += 1;
        else done.push(each.parked);
      }
      await parked.remove(done);
      metrics.addMetric('SweptEvents', MetricUnit.Count, done.length);
      return waiting === 0;
    };

    const sweepShard = async (shard: number): Promise<void> => {
      for await (const page of parked.pages(shard, PAGE_SIZE)) {
        // A table that cannot take this page will not take the next: the next run tries again.
        if (remainingMs() < PAGE_MS || !(await sweepPage(page))) return;
      }
    };

    await Promise.all(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => sweepShard(shard)));
  };
