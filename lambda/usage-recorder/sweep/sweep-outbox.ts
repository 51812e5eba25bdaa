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
/** Where this many accounts wait, the table records nothing for any. */
const MAX_WAITING_ACCOUNTS = 10;
/** The longest time that recording one page takes. */
const PAGE_MS = 15_000;

type ParsedEntry = { readonly entry: OutboxEntry; readonly event: UsageEvent };

/** The account of an event, or the hash of its key, which is of one account. */
const ownerOf = ({ event: { accountId, unverifiedKeyHash } }: ParsedEntry): string =>
  `${accountId ?? unverifiedKeyHash}`;

/** The reason to set an entry aside; null where there is none. */
const reasonToSetAside = (result: EventResult, { writtenAt }: OutboxEntry, now: number): string | null => {
  if (result.kind !== 'failed') return null;
  const name = result.error instanceof Error ? result.error.name : 'Error';
  if (result.permanent) return `The table refuses it: ${name}`;
  return now - Date.parse(writtenAt) > MAX_WAIT_MS ? `Could not be recorded for a day: ${name}` : null;
};

/**
 * Records the events of the outbox and removes each entry that is recorded. An entry that cannot be recorded yet stays for the next
 * run, and so do the further ones of its account. What never can be recorded is set aside with the reason.
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

    /** @param waiting owners of which nothing could be recorded: their entries wait for the next run */
    const sweepPage = async (page: readonly OutboxEntry[], waiting: Set<string>): Promise<void> => {
      const parsed = (await parse(page)).filter((each) => !waiting.has(ownerOf(each)));
      const events = parsed.map(({ event }) => event);
      const results = await record(events);
      reportResults({ logger, metrics }, events, results);
      const done: ParsedEntry[] = [];
      for (const [index, each] of parsed.entries()) {
        const result = results[index] as EventResult;
        const reason = reasonToSetAside(result, each.entry, now());
        if (reason !== null) await setAside(each.entry, reason);
        else if (result.kind === 'failed') waiting.add(ownerOf(each));
        else done.push(each);
      }
      for (const each of done) waiting.delete(ownerOf(each));
      await outbox.remove(done.map(({ entry }) => entry));
      metrics.addMetric('SweptEvents', MetricUnit.Count, done.length);
    };

    const sweepShard = async (shard: number): Promise<void> => {
      const waiting = new Set<string>();
      for await (const page of outbox.pages(shard, PAGE_SIZE)) {
        if (remainingMs() < PAGE_MS || waiting.size >= MAX_WAITING_ACCOUNTS) return;
        await sweepPage(page, waiting);
      }
    };

    await Promise.all(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => sweepShard(shard)));
  };
