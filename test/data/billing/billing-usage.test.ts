import { describe, expect, it } from '@jest/globals';
import { openPeriodUsage } from '../../../lambda/data/billing/billing-usage.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import { newAccount } from '../new-account.ts';

const table = tableForTests();

const NOW = new Date('2026-11-20T16:30:00.000Z');

/** An account with one tracked request at each time, recorded at that time. */
const accountWithRequests = async (...times: string[]) => {
  const { accountId } = await newAccount(table, 'PRO');
  let now = 0;
  const record = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => now });
  for (const [n, startedAt] of times.entries()) {
    now = Date.parse(startedAt);
    const [result] = await record([closeEvent({ accountId, n, startedAt })]);
    expect(result?.kind).toBe('recorded');
  }
  return accountId;
};

const period = (start: string, end: string) => ({ start: `${start}.000Z`, end: `${end}.000Z` });

describe('tracked requests of a period', () => {
  it('of a calendar month come from its counter and include its first and last instant', async () => {
    const accountId = await accountWithRequests(
      '2026-10-31T23:59:59.999Z',
      '2026-11-01T00:00:00.000Z',
      '2026-11-20T16:29:00.000Z',
    );
    const november = period('2026-11-01T00:00:00', '2026-12-01T00:00:00');
    expect(await openPeriodUsage(table)(accountId, november, NOW)).toBe(2);
  });

  it('of a subscription include the whole first hour and stop at its end', async () => {
    const accountId = await accountWithRequests(
      '2026-10-17T13:59:59.000Z',
      '2026-10-17T14:10:00.000Z',
      '2026-10-17T14:30:00.000Z',
      '2026-10-17T23:59:59.000Z',
      '2026-10-18T00:00:00.000Z',
      '2026-11-16T23:59:00.000Z',
    );
    const usage = openPeriodUsage(table);
    expect(
      await usage(accountId, period('2026-10-17T14:23:00', '2026-11-17T14:23:00'), new Date('2026-11-17T10:00:00Z')),
    ).toBe(5);
    expect(
      await usage(accountId, period('2026-10-17T00:00:00', '2026-11-17T00:00:00'), new Date('2026-11-17T10:00:00Z')),
    ).toBe(6);
  });

  it('of a period that begins today come from its hours', async () => {
    const accountId = await accountWithRequests(
      '2026-11-20T15:59:00.000Z',
      '2026-11-20T16:01:00.000Z',
      '2026-11-20T16:29:00.000Z',
    );
    expect(await openPeriodUsage(table)(accountId, period('2026-11-20T16:00:00', '2026-12-20T16:00:00'), NOW)).toBe(2);
  });

  it('of a period whose first hours have expired include its whole first day', async () => {
    const accountId = await accountWithRequests(
      '2026-08-01T01:00:00.000Z',
      '2026-08-02T01:00:00.000Z',
      '2026-11-20T16:00:00.000Z',
    );
    expect(await openPeriodUsage(table)(accountId, period('2026-08-01T12:00:00', '2027-08-01T12:00:00'), NOW)).toBe(3);
  });

  it('of a future period are zero', async () => {
    const accountId = await accountWithRequests('2026-11-20T16:00:00.000Z');
    expect(await openPeriodUsage(table)(accountId, period('2026-12-20T16:00:00', '2027-01-20T16:00:00'), NOW)).toBe(0);
  });
});
