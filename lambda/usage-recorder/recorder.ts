import type { Logger } from '@aws-lambda-powertools/logger';
import { openAccountPlans } from '../data/accounts/account-plans.ts';
import { openKeyOwners } from '../data/accounts/key-owners.ts';
import { openCounterSlots } from '../data/ledger/counter-slots.ts';
import { openLedger } from '../data/ledger/ledger.ts';
import { openTrackingGaps } from '../data/ledger/tracking-gaps.ts';
import { findCountedResponses } from '../data/requests/counted-responses.ts';
import { openRequests } from '../data/requests/requests.ts';
import type { Table } from '../data/table/table.ts';
import { priceRequest } from '../domain/price/price-request.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import type { AccountCloseEvent } from './events.ts';
import { type EventResult, recordEvents } from './record-events.ts';

export type Recorder = (events: readonly UsageEvent[]) => Promise<EventResult[]>;

const priceFailed: PricedUsage = {
  usage: null,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  lines: [],
  reason: 'The price could not be computed.',
};

interface RecorderOptions {
  readonly logger: Pick<Logger, 'error'>;
  readonly price?: (event: AccountCloseEvent) => PricedUsage;
  readonly now?: () => number;
}

/** The recorder over one table, as the queue, the sweep and operations use it. */
export const openRecorder = (
  table: Table,
  { logger, price = priceRequest, now = Date.now }: RecorderOptions,
): Recorder => {
  const requests = openRequests(table, now);
  const ledger = openLedger(table, now);
  const claims = openCounterSlots(table, now);
  const accountPlans = openAccountPlans(table, now);
  // Pricing does not throw. Were it to, one event must not keep all others of its account from being recorded.
  const safePrice = (event: AccountCloseEvent): PricedUsage => {
    try {
      return price(event);
    } catch (error) {
      logger.error('Pricing threw', { requestId: event.requestId, errorName: (error as Error).name });
      return priceFailed;
    }
  };
  return recordEvents({
    findRecords: requests.findMany,
    findAnswers: (names) => findCountedResponses(table, names),
    findKeyOwners: openKeyOwners(table).find,
    findPlan: accountPlans.find,
    noteTrackingGap: openTrackingGaps(table).note,
    overflowLevels: claims.levels,
    commit: ledger.commit,
    price: safePrice,
    now,
  });
};
