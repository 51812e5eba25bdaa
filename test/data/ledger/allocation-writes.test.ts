import { expect, it } from '@jest/globals';
import { packTransactions, toActions } from '../../../lambda/data/ledger/transactions.ts';
import { allocationValueOf } from '../../../lambda/domain/spend/contribution.ts';
import type { AllocationName } from '../../../lambda/domain/spend/dimensions.ts';
import type { AccountCloseEvent } from '../../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose } from '../../../lambda/usage-recorder/build-record.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';

const unsharded = { shardedAfter: () => undefined, shardOfRequest: () => 0, shardOfCounter: () => 0 };
const DECLARED = ['team', 'customer', 'env', 'feature', 'region'] as const;

/** The change of a request that the account's dimensions are counted for. */
const changeOf = (n: number, declared: readonly string[]) => {
  const event = closeEvent({
    n,
    tag: `tag-${n % 3}`,
    client: `client-${n % 2}`,
    metadata: {
      team: `team-${n % 4}`,
      customer: `customer-${n % 5}`,
      env: `env-${n % 2}`,
      feature: `feature-${n % 4}`,
      region: `region-${n % 3}`,
    },
    reading: { modelServed: `model-${Math.floor(n / 3) % 3}` },
  }) as AccountCloseEvent;
  const context = { revision: 1, overflowLevel: 0, recordedAt: event.startedAt, expiresAt: 0 };
  const record = recordOfClose(event, priceOfTokens(event), null, context);
  const names = ['client', ...declared.map((name) => `dim:${name}`)] as AllocationName[];
  const allocations = Object.fromEntries(
    names.map((name) => [name, { value: allocationValueOf(record, name), level: 0, kept: [] }]),
  );
  return { before: null, after: { ...record, allocations } };
};

/** Write units beyond those of the records, for each request. A transaction pays two for an item of up to a kilobyte. */
const unitsBeyondTheRecord = (requests: number, declared: readonly string[]): number => {
  const changes = Array.from({ length: requests }, (_, n) => changeOf(n, declared));
  const actions = packTransactions(changes, '2026-11-20', unsharded).flatMap(
    (transaction) => toActions(transaction, 0).actions,
  );
  return (2 * (actions.length - requests)) / requests;
};

it('a request on its own costs two units for each dimension, the client among them', () => {
  expect([[], ['team'], DECLARED].map((declared) => unitsBeyondTheRecord(1, declared))).toEqual([8, 10, 18]);
});

it('a busy account stays below three units beyond the record, with all five dimensions', () => {
  expect(unitsBeyondTheRecord(100, [])).toBeLessThan(0.9);
  expect(unitsBeyondTheRecord(100, DECLARED)).toBeLessThanOrEqual(3);
});
