import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { openTrackingGaps } from '../../lambda/data/ledger/tracking-gaps.ts';
import { newAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { UntrackedEvent } from '../../lambda/domain/usage/usage-event.ts';
import { parseUsageEvent } from '../../lambda/usage-recorder/parse-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { reportResults } from '../../lambda/usage-recorder/report.ts';
import { newAccount } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens, requestIdAt } from './events.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');

const table = tableForTests();

const recorderOver = (of: typeof table) =>
  openRecorder(of, { logger: { error: () => {} }, price: priceOfTokens, now: () => NOW });

let reports = 0;
const report = (facts: Partial<UntrackedEvent> = {}): UntrackedEvent => ({
  version: 1,
  kind: 'untracked',
  requestId: requestIdAt('2026-11-20T12:40:00.000Z', ++reports),
  accountId: 'svc_untracked',
  from: '2026-11-20T12:00:00.000Z',
  to: '2026-11-20T12:20:00.000Z',
  requests: 40,
  ...facts,
});
const day = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };

describe('reports of untracked requests', () => {
  it('are stored with their account, each once, next to recorded requests', async () => {
    const event = report();
    const results = await recorderOver(table)([event, closeEvent({ accountId: 'svc_untracked' }), event]);
    expect(results.map(({ kind }) => kind)).toEqual(['noted', 'recorded', 'noted']);
    expect(await recorderOver(table)([event])).toEqual([{ kind: 'noted' }]);
    const { gaps } = openTrackingGaps(table);
    expect(await gaps('svc_untracked', day)).toEqual([{ from: event.from, to: event.to, requests: 40 }]);
    expect(await gaps('svc_other', day)).toEqual([]);
  });

  it('are counted by their requests', () => {
    const counted: unknown[] = [];
    const metrics = { addMetric: (...metric: unknown[]) => counted.push(metric) };
    const noted = { kind: 'noted' } as const;
    reportResults({ logger: silentLogger(), metrics }, [report(), report({ requests: 2 })], [noted, noted]);
    expect(counted).toEqual([['UntrackedRequests', 'Count', 42]]);
  });

  it.each([
    ['before the report', '2026-11-20T11:00:00.000Z', '2026-11-20T12:00:00.000Z', 0],
    ['into the report', '2026-11-20T11:00:00.000Z', '2026-11-20T12:00:00.001Z', 1],
    ['from within the report', '2026-11-20T12:20:00.000Z', '2026-11-20T13:00:00.000Z', 1],
    ['after the report', '2026-11-20T12:20:00.001Z', '2026-11-20T13:00:00.000Z', 0],
  ])('are returned for a range that lies %s', async (_case, from, to, expected) => {
    const accountId = `svc_range_${expected}_${from}`;
    await recorderOver(table)([report({ accountId })]);
    expect(await openTrackingGaps(table).gaps(accountId, { from, to })).toHaveLength(expected);
  });

  it('are attributed by their unverified key; an unknown key has no gap', async () => {
    const { accountId, accountKey } = await newAccount(table);
    const unverified = (key: string) => report({ accountId: null, unverifiedKeyHash: secretHash(key) });
    expect(await recorderOver(table)([unverified(accountKey), unverified(newAccountKey(randomBytes))])).toEqual([
      { kind: 'noted' },
      { kind: 'unowned' },
    ]);
    expect(await openTrackingGaps(table).gaps(accountId, day)).toHaveLength(1);
  });

  it('fail where the table fails, so that the queue delivers them again', async () => {
    const down = interceptTable(table, async (command, send) => {
      if (JSON.stringify(command).includes('UNTRACKED#')) throw new Error('down');
      return send();
    });
    const results = await recorderOver(down as typeof table)([
      report(),
      closeEvent({ accountId: 'svc_untracked', n: 9 }),
    ]);
    expect(results).toMatchObject([{ kind: 'failed', permanent: false }, { kind: 'recorded' }]);
  });

  it('are parsed like any event of the queue', () => {
    expect(parseUsageEvent(JSON.stringify(report()))).toMatchObject({ kind: 'untracked', requests: 40 });
    expect(() => parseUsageEvent(JSON.stringify({ ...report(), requests: -1 }))).toThrow('Not a usage event');
  });
});
