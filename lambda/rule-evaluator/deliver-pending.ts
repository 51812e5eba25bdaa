import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import { type AlertDeliveries, type Outgoing, outgoingKey } from '../data/alerts/alert-deliveries.ts';
import { UNDELIVERED_SHARDS } from '../data/table/keys.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import { isLate, takeUntil } from './take-until.ts';

export interface PendingDependencies {
  readonly deliveries: Pick<AlertDeliveries, 'undelivered'>;
  readonly deliver: (outgoing: Outgoing, round: number) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

const AT_ONCE = 32;

/**
 * Delivers the alerts and reports whose next attempt is due.
 *
 * @returns how many could not be delivered or read
 */
export const deliverPending =
  ({ deliveries, deliver, now, logger }: PendingDependencies) =>
  async (remainingMs: () => number): Promise<{ readonly failures: number }> => {
    let failures = 0;
    const fail = (what: string, facts: Record<string, unknown>, error: unknown): void => {
      failures += 1;
      logger.error(what, { ...facts, error: error as Error });
    };
    const tryToDeliver = async (outgoing: Outgoing, round: number): Promise<void> => {
      try {
        await deliver(outgoing, round);
      } catch (error) {
        fail('not delivered', { item: outgoingKey(outgoing).sk }, error);
      }
    };
    // Each run begins with another shard, so that none waits for the others.
    const first = Math.floor(now().getTime() / MINUTE_MS);
    for (let i = 0; i < UNDELIVERED_SHARDS && !isLate(remainingMs); i++) {
      const shard = (first + i) % UNDELIVERED_SHARDS;
      const due = takeUntil(deliveries.undelivered(shard, now()), () => isLate(remainingMs));
      try {
        await pMap(due, ({ outgoing, round }) => tryToDeliver(outgoing, round), { concurrency: AT_ONCE });
      } catch (error) {
        fail('pending alerts not read', { shard }, error);
      }
    }
    return { failures };
  };
