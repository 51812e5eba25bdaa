import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Outbox, OutboxEntry } from '../../data/ledger/outbox.ts';
import { OUTBOX_SHARDS } from '../../data/table/keys.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { UsageEvent } from '../../domain/usage/usage-event.ts';
import type { MetricLog } from '../../on-schedule.ts';
import { PoisonEventError, parseUsageEvent } from '../parse-event.ts';
import type { EventResult, Recorder } from '../recorder.ts';
import { type ReportLogger, reportResults } from '../report.ts';

interface SweepDependencies {
  readonly outbox: Outbox;
  readonly record: Recorder;
  readonly logger: ReportLogger;
  readonly metrics: MetricLog;
  readonly now: () => number;
}

const PAGE_SIZE = 100;
/** An entry that a readable table could not record for this long is set aside. */
const MAX_WAIT_MS = DAY_MS;
/** The longest time that recording one page takes. */
const PAGE_MS = 15_000;

type ParsedEntry = { readonly entry: OutboxEntry; readonly event: UsageEvent };

/** The reason to set an entry aside; null where there is none. */
const reasonToSetAside = (result: EventResult, { writtenAt }: OutboxEntry, now: number): string | null => {
  if (result.kind !== 'failed') return null;
  const name = result.error instanceof Error ? result.error.name : 'Error';
  if (result.permanent) return `The table refuses it: ${name}`;
  return now - Date.parse(writtenAt) > MAX_WAIT_MS ? `Could not be recorded for a day: ${name}` : null;
};

/**
 * Records the events of the outbox and removes each entry that is recorded. An entry that cannot be recorded yet stays for the next
 * run. One that never can be is set aside with the reason.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const sweepOutbox =
  ({ outbox, record, logger, metrics, now }: SweepDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const setAside = async (entry: OutboxEntry, reason: string): Promise<void> => {
      logger.error('Outbox entry set aside', { outboxEntry: entry.key.sk, reason });
      metrics.addMetric('RefusedOutboxEntries', MetricUnit.Count, 1);
      await outbox.setAside(entry, reason);
    };

    const parse = async (page: readonly OutboxEntry[]): Promise<ParsedEntry[]> => {
      const parsed: ParsedEntry[] = [];
      for (const entry of page) {
        try {
          parsed.push({ entry, event: parseUsageEvent(entry.event) });
        } catch (error) {
          if (!(error instanceof PoisonEventError)) throw error;
          await setAside(entry, error.message);
        }
      }
      return parsed;
    };

    /** @returns false where entries of the page must wait for the next run */
    const sweepPage = async (page: readonly OutboxEntry[]): Promise<boolean> => {
      const parsed = await parse(page);
      const events = parsed.map(({ event }) => event);
      const results = await record(events);
      reportResults({ logger, metrics }, events, results);
      const done: OutboxEntry[] = [];
      let waiting = 0;
      for (const [index, { entry }] of parsed.entries()) {
        const result = results[index] as EventResult;
        const reason = reasonToSetAside(result, entry, now());
        if (reason !== null) await setAside(entry, reason);
        else if (result.kind === 'failed') waiting += 1;
        else done.push(entry);
      }
      await outbox.remove(done);
      metrics.addMetric('SweptEvents', MetricUnit.Count, done.length);
      return waiting === 0;
    };

    const sweepShard = async (shard: number): Promise<void> => {
      for await (const page of outbox.pages(shard, PAGE_SIZE)) {
        // A table that cannot record this page cannot record the next: the next run tries again.
        if (remainingMs() < PAGE_MS || !(await sweepPage(page))) return;
      }
    };

    await Promise.all(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => sweepShard(shard)));
  };
