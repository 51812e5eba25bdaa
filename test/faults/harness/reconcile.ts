import assert from 'node:assert/strict';
import { openTrackingGaps } from '../../../lambda/data/ledger/tracking-gaps.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { contributionOf } from '../../../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters } from '../../../lambda/domain/spend/counters.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';
import type { TrackingGap } from '../../../lambda/domain/spend/tracking-gaps.ts';
import { ledgerSums, total } from '../../usage-recorder/ledger-sums.ts';
import { numberOf, tokensOf } from './provider.ts';
import type { Sent } from './traffic.ts';

const DAY_MS = 86_400_000;
/** Today, and the days around it: a run may pass midnight. */
export const aroundNow = () => ({
  from: new Date(Date.now() - DAY_MS).toISOString(),
  to: new Date(Date.now() + DAY_MS).toISOString(),
});

export const recordsOf = async (table: Table, accountId: string): Promise<RequestRecord[]> => {
  const records: RequestRecord[] = [];
  for await (const record of openRequests(table).all(accountId, aroundNow())) records.push(record);
  return records;
};

export interface Reconciled {
  readonly records: readonly RequestRecord[];
  /** Requests with a response and without a record; their clients saw `bypassed`. */
  readonly bypassedLost: number;
  readonly untracked: readonly TrackingGap[];
}

/**
 * Compares what clients sent and saw with what is on record, and the records with the counters: each request at most once,
 * each governed one exactly once, every counter the sum of its records.
 *
 * @throws AssertionError
 */
export const reconcile = async (table: Table, accountId: string, sent: readonly Sent[]): Promise<Reconciled> => {
  const records = await recordsOf(table, accountId);
  const byNumber = new Map<number, RequestRecord>();
  for (const record of records) {
    const n = numberOf(record.path);
    assert.ok(!byNumber.has(n), `request ${n} is on record twice`);
    byNumber.set(n, record);
  }
  assert.equal(new Set(records.map(({ requestId }) => requestId)).size, records.length);

  let bypassedLost = 0;
  const numbers = new Set<number>();
  for (const { n, requestId, route, status, whole } of sent) {
    numbers.add(n);
    const record = byNumber.get(n);
    if (record && requestId !== null)
      assert.equal(record.requestId, requestId, `request ${n} has another id on record`);
    if (route === 'governed') assert.ok(record, `request ${n} was governed and is not on record`);
    if (status !== null && !record) bypassedLost++;
    // Every finished record has what the provider reported.
    if (record?.outcome === 'completed' && whole)
      assert.equal(record.usage?.inputTokens, tokensOf(n).prompt_tokens, `tokens of request ${n}`);
  }
  for (const n of byNumber.keys()) assert.ok(numbers.has(n), `request ${n} is on record and was never sent`);

  const sums = records.map((record) => contributionOf(record).counters).reduce<Counters>(addCounters, {});
  const months = [...new Set(records.map(({ startedAt }) => startedAt.slice(0, 7)))];
  const ledger = await ledgerSums(table, accountId, months);
  assert.deepEqual(total(ledger.days), sums, 'day counters are the sums of the records');
  assert.deepEqual(total(ledger.hours), sums, 'hour counters are the sums of the records');
  const monthly = Object.values(ledger.months).reduce((left, right) => left + right, 0);
  assert.equal(monthly, records.length, 'month counters are the number of records');
  return { records, bypassedLost, untracked: await openTrackingGaps(table).gaps(accountId, aroundNow()) };
};
