import type { Logger } from '@aws-lambda-powertools/logger';
import type { AccountJob } from '../data/accounts/account-jobs.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';

interface JobDependencies {
  readonly dueJobs: (now: Date) => AsyncIterable<AccountJob>;
  /** Work for a kind of job. `isLate` is true where the rest must wait for another run. */
  readonly run: Readonly<Record<string, (job: AccountJob, isLate: () => boolean) => Promise<void>>>;
  /** Puts a failed job off. @returns the failures so far, this one included */
  readonly postpone: (job: AccountJob, error: unknown, dueAt: (failures: number) => Date) => Promise<number>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

/** A big job leaves time for others in each run. */
const JOB_MS = 20_000;
/** Enough for what was begun to end. */
const RESERVE_MS = 12_000;
const MAX_WAIT_MINUTES = 60;

/** A job of this run failed. Each is logged, and tried again later. */
class FailedJobsError extends Error {
  override readonly name = 'FailedJobsError';
}

/** Runs what is due, each job for a while: what is not finished is due again. The returned function takes the time left, in milliseconds. */
export const runJobs =
  ({ dueJobs, run, postpone, now, logger }: JobDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    let failed = 0;
    for await (const job of dueJobs(now())) {
      if (remainingMs() < RESERVE_MS) break;
      const endsAtMs = now().getTime() + JOB_MS;
      try {
        await run[job.kind]?.(job, () => now().getTime() >= endsAtMs || remainingMs() < RESERVE_MS);
      } catch (error) {
        failed += 1;
        const minutes = (failures: number) => Math.min(2 ** failures, MAX_WAIT_MINUTES);
        const failures = await postpone(job, error, (count) => new Date(now().getTime() + minutes(count) * MINUTE_MS));
        logger.error('job of an account failed', {
          accountId: job.accountId,
          kind: job.kind,
          failures,
          error: error as Error,
        });
      }
    }
    if (failed > 0) throw new FailedJobsError(`${failed} jobs failed.`);
  };
