import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { dueJobs } from '../data/accounts/account-jobs.ts';
import type { Table } from '../data/table/table.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';

/** Runs one kind of job. The id is that of the report, archive and so on. */
interface JobKind {
  /** `isLate` is true where the rest must wait for another run. */
  readonly run: (accountId: string, id: string, isLate: () => boolean) => Promise<void>;
  /** Puts a failed job off. @returns the failures so far, this one included */
  readonly putOff: (
    accountId: string,
    id: string,
    dueAt: (failures: number) => Date,
    error: unknown,
  ) => Promise<number>;
}

/** A big job leaves time for others in each run. */
const JOB_MS = 20_000;
/** Enough for what was begun to end. */
const RESERVE_MS = 12_000;
/** Enough to put a job off. What was begun in time, such as a post of ten seconds, has ended before. */
const PUT_OFF_MS = 2_000;
const MAX_WAIT_MINUTES = 60;

/** A job of this run failed. Each is logged, and tried again later. */
class FailedJobsError extends Error {
  override readonly name = 'FailedJobsError';
}

/** Without a limit, a job that does not end would be killed with each run, and be the first of the next: no other had its turn. */
const inTime = async (job: Promise<void>, ms: number): Promise<void> => {
  const timer = new AbortController();
  const end = pause(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error('The job does not end in time.');
  });
  await Promise.race([job, end]).finally(() => timer.abort());
};

/**
 * Runs the jobs that are due, each for a while. A job that is not finished is due again. The returned function takes the time left, in
 * milliseconds.
 */
export const runJobs =
  (table: Table, kinds: Readonly<Record<string, JobKind>>, logger: Pick<Logger, 'error'>, now: () => Date) =>
  async (remainingMs: () => number): Promise<void> => {
    let failed = 0;
    for await (const { accountId, kind, sk } of dueJobs(table, now())) {
      if (remainingMs() < RESERVE_MS) break;
      const job = kinds[kind];
      if (!job) continue;
      const id = sk.slice(sk.indexOf('#') + 1);
      const endsAtMs = now().getTime() + JOB_MS;
      try {
        const isLate = () => now().getTime() >= endsAtMs || remainingMs() < RESERVE_MS;
        await inTime(job.run(accountId, id, isLate), remainingMs() - PUT_OFF_MS);
      } catch (error) {
        failed += 1;
        const minutes = (failures: number) => Math.min(2 ** failures, MAX_WAIT_MINUTES);
        const dueAt = (failures: number) => new Date(now().getTime() + minutes(failures) * MINUTE_MS);
        // If that fails too, the job is due again at once. It must not keep the others from their turn.
        const failures = await job.putOff(accountId, id, dueAt, error).catch(() => undefined);
        logger.error('job of an account failed', { accountId, kind, failures, error: error as Error });
      }
    }
    if (failed > 0) throw new FailedJobsError(`${failed} jobs failed.`);
  };
