import type { Logger } from '@aws-lambda-powertools/logger';
import type { EvaluationProgress, ShardProgress } from '../data/alerts/evaluation-progress.ts';
import { CATCH_UP_MS } from '../domain/calendar/periods.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import type { Job, SendJob } from './job.ts';

export interface RoundDependencies {
  readonly progress: EvaluationProgress;
  readonly send: SendJob;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface RoundReport {
  /** Jobs that were sent. */
  readonly jobs: number;
  readonly failures: number;
  /** When the oldest round was due that still judges a shard; null where none does. */
  readonly oldestDue: string | null;
}

/** One worker judges as many in some seconds. A stage with fewer rules has one job a minute. */
const RULES_PER_JOB = 2_000;
/** By then the queue has given a job up, or it is lost: see lib/stacks/alerts.ts. */
const LOST_MS = 10 * MINUTE_MS;
/** Rules that were not judged for this long are reported. */
const OUTAGE_MS = 15 * MINUTE_MS;

/** Spreads shards over as many jobs as their rules need. Nobody has counted the rules of a new shard: it gets a job. */
export const jobsFor = (shards: readonly ShardProgress[], due: string): Job[] => {
  const rules = shards.reduce((sum, shard) => sum + (shard.rules ?? RULES_PER_JOB), 0);
  const count = Math.min(shards.length, Math.max(1, Math.ceil(rules / RULES_PER_JOB)));
  return Array.from({ length: count }, (_, job) => ({
    due,
    shards: shards
      .filter((_, index) => index % count === job)
      .map(({ shard, judgedUntil }) => ({
        shard,
        judgedUntil: judgedUntil ?? due,
        after: null,
        rules: 0,
        isWhole: true,
      })),
  }));
};

/**
 * Starts a round: sends the shards that no worker has as jobs to the queue. Where a shard is still being judged, it waits for a later
 * round, so jobs never pile up. A lost job is sent again after ten minutes.
 */
export const startRound =
  ({ progress, send, now, logger }: RoundDependencies) =>
  async (due: string): Promise<RoundReport> => {
    const shards = await progress.read();
    const isFree = (shard: ShardProgress): boolean =>
      shard.due === null || Math.abs(now().getTime() - Date.parse(shard.due)) >= LOST_MS;
    const free = shards.filter(isFree);
    const report = (sent: Pick<RoundReport, 'jobs' | 'failures'>): RoundReport => ({
      ...sent,
      oldestDue: shards.flatMap((shard) => shard.due ?? []).sort()[0] ?? null,
    });
    if (free.length === 0) return report({ jobs: 0, failures: 0 });

    const judgedUntil = free.flatMap((shard) => shard.judgedUntil ?? []).sort()[0];
    if (judgedUntil !== undefined && Date.parse(due) - Date.parse(judgedUntil) > OUTAGE_MS) {
      const judgedAgainFrom = new Date(Math.max(Date.parse(judgedUntil), Date.parse(due) - CATCH_UP_MS));
      logger.warn('rules were not judged for a while', { judgedUntil, judgedAgainFrom });
    }
    const jobs = jobsFor(free, due);
    await progress.save(free.map((shard) => ({ ...shard, due })));
    const unsent: Job[] = [];
    await Promise.all(
      jobs.map(async (job) => {
        try {
          await send(job);
        } catch (error) {
          logger.error('rules not sent to a worker', { error: error as Error });
          unsent.push(job);
        }
      }),
    );
    const left = new Set(unsent.flatMap(({ shards: ofJob }) => ofJob.map(({ shard }) => shard)));
    await progress.save(free.filter(({ shard }) => left.has(shard)).map((shard) => ({ ...shard, due: null })));
    return report({ jobs: jobs.length - unsent.length, failures: unsent.length });
  };
