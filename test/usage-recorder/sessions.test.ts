import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { interceptTable, refusal } from '../../fixtures/intercept-table.ts';
import { openLedger } from '../../lambda/data/ledger/ledger.ts';
import { openSharding } from '../../lambda/data/ledger/sharding.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSessions } from '../../lambda/data/spend/sessions.ts';
import { sessionPartition } from '../../lambda/data/table/keys.ts';
import { contributionOf } from '../../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters } from '../../lambda/domain/spend/counters.ts';
import { withoutDurations } from '../../lambda/domain/spend/durations.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { agentsOf, bySessionOrder, type SessionCounter, sessionSums } from '../../lambda/domain/spend/sessions.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { AccountCloseEvent, AccountOpenEvent } from '../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose, recordOfOpen } from '../../lambda/usage-recorder/build-record.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');
const now = () => NOW;
const DAYS = { from: '2026-11-18', to: '2026-11-20' };
const RANGE = { from: '2026-11-18T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };

const table = tableForTests();

let accounts = 0;
const newAccountId = () => `svc_${++accounts}`;
const recorder = (of = table, price = priceOfTokens) =>
  openRecorder(of as typeof table, { logger: { error: () => {} }, price, now });
const times =
  (factor: number): typeof priceOfTokens =>
  (event) => {
    const priced = priceOfTokens(event);
    return { ...priced, costNanoUsd: priced.costNanoUsd && factor * priced.costNanoUsd };
  };

const countersOf = async (accountId: string): Promise<SessionCounter[]> => {
  const counters: SessionCounter[] = [];
  const from = await openSessions(table, now).read(accountId, DAYS, (counter) => counters.push(counter));
  expect(from).toBe(DAYS.from);
  return counters;
};
const recordsOf = async (accountId: string) => {
  const { items, nextCursor } = await openRequests(table, now).page(accountId, { ...RANGE, limit: 1_000 });
  expect(nextCursor).toBeNull();
  return items;
};
const sum = (all: readonly Counters[]): Counters => all.reduce(addCounters, {});

/** What a record adds to its session. */
const sumsOf = (record: RequestRecord): Counters => withoutDurations(contributionOf(record).counters);

/** Compares every sum of the sessions with the records and with the ledger's days. */
const expectExact = async (accountId: string): Promise<void> => {
  const records = await recordsOf(accountId);
  const counters = await countersOf(accountId);
  const name = (...parts: unknown[]) => JSON.stringify(parts);
  const expected = Map.groupBy(
    records.filter(({ session }) => session !== null),
    ({ startedAt, session, client }) =>
      name(startedAt.slice(0, 10), session?.id, session?.agentId ?? null, session?.parentAgentId ?? null, client),
  );
  // A busy counter may have shards.
  const found = Map.groupBy(counters, ({ firstHour, sessionId, agentId, parentAgentId, client }) =>
    name(firstHour.slice(0, 10), sessionId, agentId, parentAgentId, client),
  );
  expect(Object.fromEntries([...found].map(([key, some]) => [key, sum(some.map((each) => each.counters))]))).toEqual(
    Object.fromEntries([...expected].map(([key, some]) => [key, sum(some.map(sumsOf))])),
  );
  const totals = sessionSums('sessionId');
  for (const counter of counters) totals.add(counter);
  const ofSessions = totals.all().map((session) => session.counters);
  const withoutSession = records.filter(({ session }) => session === null).map(sumsOf);
  expect(sum([...ofSessions, ...withoutSession])).toEqual(
    withoutDurations(total((await ledgerSums(table, accountId, [])).days)),
  );
};

const request = fc.record({
  at: fc.integer({ min: Date.parse(RANGE.from), max: NOW - 1 }),
  session: fc.option(fc.constantFrom('s1', 's2', 's#3', '%'), { nil: undefined }),
  agent: fc.option(fc.constantFrom('a1', 'a2', '=#'), { nil: undefined }),
  parent: fc.option(fc.constant('a1'), { nil: undefined }),
  client: fc.constantFrom('claude-code', 'codex', undefined),
  tokens: fc.integer({ min: 0, max: 1_000_000 }),
  kind: fc.constantFrom('open', 'close', 'open, close', 'close, open', 'close, close', 'open, close, open, close'),
  isPriced: fc.boolean(),
});

describe('the sums of sessions', () => {
  it('are those of their records and of the ledger, whatever comes late, twice, or again with a price', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 2, max: 5 }),
        async (requests, batchSize, factor) => {
          const accountId = newAccountId();
          const waves: UsageEvent[][] = [[], [], [], []];
          for (const [n, { at, session, agent, parent, client, tokens, kind, isPriced }] of requests.entries()) {
            const facts = {
              ...{ accountId, n, startedAt: new Date(at).toISOString() },
              ...(client && { client }),
              ...(session && {
                session: { id: session, ...(agent && { agentId: agent, ...(parent && { parentAgentId: parent }) }) },
              }),
            };
            const close = closeEvent({ ...facts, tokens, ...(!isPriced && { reading: { usage: null } }) });
            for (const [wave, name] of kind.split(', ').entries())
              waves[wave]?.push(name === 'open' ? openEvent(facts) : close);
          }
          for (const events of waves) {
            const batches = Array.from({ length: Math.ceil(events.length / batchSize) }, (_, n) =>
              events.slice(n * batchSize, (n + 1) * batchSize),
            );
            // Two recorders at the same time, one of which gets everything twice.
            await Promise.all([
              ...batches.map((batch) => recorder()(batch)),
              (async () => {
                for (const batch of batches) await recorder()(batch);
              })(),
            ]);
          }
          await expectExact(accountId);
          const records = await recordsOf(accountId);
          expect(records).toHaveLength(requests.length);
          await openRepricer(table, times(factor))(
            records.filter((_, n) => n % 2 === 0),
            { dryRun: false },
          );
          await expectExact(accountId);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('change in the transaction of the record, or not at all', async () => {
    const accountId = newAccountId();
    const event = closeEvent({ accountId, session: { id: 's1' } });
    const failing = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems') throw refusal('ValidationException');
      return send();
    });
    expect(await recorder(failing as typeof table)([event])).toMatchObject([{ kind: 'failed' }]);
    expect(await countersOf(accountId)).toEqual([]);
    expect(await recorder()([event])).toMatchObject([{ kind: 'recorded' }]);
    expect(await countersOf(accountId)).toMatchObject([
      { sessionId: 's1', counters: { requests: 1, inputTokens: 100 } },
    ]);
  });

  it('stay exact where the counters of a busy session are spread', async () => {
    const accountId = newAccountId();
    const shards = [0, 3, 7, 31];
    let asked = 0;
    const spread = {
      ...openSharding(table, now),
      shardedAfter: () => undefined,
      shardOfCounter: () => shards[asked++ % shards.length] as number,
    };
    const [one, two] = [
      { n: 1, tokens: 10 },
      { n: 2, tokens: 20 },
    ].map((facts) => {
      const session = { id: 's1', agentId: 'a1' };
      const close = closeEvent({ accountId, session, ...facts }) as AccountCloseEvent;
      const context = { revision: 1, overflowLevel: 0, recordedAt: close.startedAt, expiresAt: NOW };
      const open = recordOfOpen(openEvent({ accountId, session, ...facts }) as AccountOpenEvent, context);
      return { open, close: recordOfClose(close, priceOfTokens(close), null, { ...context, revision: 2 }) };
    });
    const ledger = openLedger(table, now, spread);
    for (const after of [one!.open, two!.open]) await ledger.commit([{ before: null, after }]);
    for (const { open: before, close: after } of [one!, two!]) await ledger.commit([{ before, after }]);
    expect((await countersOf(accountId)).length).toBeGreaterThan(1);
    expect(agentsOf(await openSessions(table, now).find(accountId, 's1', DAYS))).toMatchObject([
      { agentId: 'a1', counters: { requests: 2, costComputedNanoUsd: 210, inputTokens: 30 } },
    ]);
    const totals = sessionSums('sessionId');
    for (const counter of await countersOf(accountId)) totals.add(counter);
    expect(totals.all()).toMatchObject([{ sessionId: 's1', counters: { requests: 2, costComputedNanoUsd: 210 } }]);
  });

  it('cost one more write for each agent and day in a transaction', async () => {
    const accountId = newAccountId();
    const writes: number[] = [];
    const counting = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems') writes.push(command.input.TransactItems?.length ?? 0);
      return send();
    });
    const record = recorder(counting as typeof table);
    const events = (session?: { id: string; agentId?: string }) =>
      [1, 2, 3].map((n) => closeEvent({ accountId, n: n + 10 * writes.length, ...(session && { session }) }));
    await record(events());
    await record(events({ id: 's1' }));
    await record([...events({ id: 's1', agentId: 'a1' }).slice(0, 2), ...events({ id: 's1' }).slice(2)]);
    // Three records, counters of an hour, a day, a client's hour and a month.
    expect(writes).toEqual([7, 8, 9]);
  });

  it('expire with the last record of their day', async () => {
    const accountId = newAccountId();
    await recorder()([
      closeEvent({ accountId, session: { id: 's1' }, startedAt: '2026-11-20T00:00:00.000Z', n: 1 }),
      closeEvent({ accountId, session: { id: 's1' }, startedAt: '2026-11-20T12:59:59.999Z', n: 2 }),
    ]);
    const [{ expiresAt = 0 } = {}] = [...(await recordsOf(accountId))];
    const keptUntil = Date.parse('2026-12-21T00:00:00Z');
    expect(expiresAt * 1_000).toBeLessThanOrEqual(keptUntil);
    const at = async (time: number) => openSessions(table, () => time).find(accountId, 's1', DAYS);
    expect(await at(keptUntil - 1)).toHaveLength(1);
    expect(await at(keptUntil)).toEqual([]);
    expect(sessionPartition(accountId, '2026-11-20')).toContain('#SESSIONS#2026-11-20');
  });
});

describe('reading sessions', () => {
  it('finds one among others whose ids begin alike, with its hours', async () => {
    const accountId = newAccountId();
    const at = (id: string, startedAt: string, n: number) =>
      closeEvent({ accountId, n, startedAt, session: { id }, client: 'codex' });
    await recorder()([
      at('s', '2026-11-19T23:10:00.000Z', 1),
      at('s', '2026-11-20T02:10:00.000Z', 2),
      at('s', '2026-11-20T10:10:00.000Z', 3),
      at('s1', '2026-11-20T10:10:00.000Z', 4),
      at('s#', '2026-11-20T10:10:00.000Z', 5),
    ]);
    const found = await openSessions(table, now).find(accountId, 's', DAYS);
    expect(found.map(({ firstHour, lastHour, counters }) => [firstHour, lastHour, counters.requests])).toEqual([
      ['2026-11-20T02', '2026-11-20T10', 2],
      ['2026-11-19T23', '2026-11-19T23', 1],
    ]);
    expect(agentsOf(found)).toMatchObject([
      { agentId: null, firstHour: '2026-11-19T23', lastHour: '2026-11-20T10', counters: { requests: 3 } },
    ]);
    expect(await openSessions(table, now).find('svc_other', 's', DAYS)).toEqual([]);
  });

  it('reads the newest days and says where it stopped, when it takes too long', async () => {
    const accountId = newAccountId();
    await recorder()(
      ['2026-11-18', '2026-11-19', '2026-11-20'].map((day, n) =>
        closeEvent({ accountId, n, startedAt: `${day}T10:00:00.000Z`, session: { id: day } }),
      ),
    );
    let time = NOW;
    const slow = interceptTable(table, async (_, send) => {
      time += 10_000;
      return send();
    });
    const seen: string[] = [];
    const days = { ...DAYS, from: '2026-10-01' };
    const from = await openSessions(slow, () => time).read(accountId, days, ({ sessionId }) => seen.push(sessionId));
    expect([from, seen.sort()]).toEqual(['2026-11-18', ['2026-11-18', '2026-11-19', '2026-11-20']]);
  });

  it('adds up sessions, in the order of their cost or of their last request', () => {
    const counter = (sessionId: string, hour: string, cost: number, more: Partial<SessionCounter> = {}) => ({
      ...{ sessionId, agentId: null, parentAgentId: null, client: null, keyId: null, firstHour: hour, lastHour: hour },
      counters: { requests: 1, costComputedNanoUsd: cost },
      ...more,
    });
    const totals = sessionSums('sessionId');
    totals.add(counter('a', '2026-11-20T10', 5, { agentId: 'a1', client: 'codex' }));
    totals.add(counter('b', '2026-11-20T12', 7));
    totals.add(counter('a', '2026-11-19T10', 4));
    totals.add(counter('c', '2026-11-18T10', 7));
    // Of a counter that has expired, a new price leaves a difference.
    totals.add(counter('d', '2026-11-18T10', 0, { counters: { costComputedNanoUsd: 9 } }));
    const order = (by: 'cost' | 'time') => totals.all().sort(bySessionOrder(by));
    expect(order('cost').map(({ sessionId }) => sessionId)).toEqual(['a', 'b', 'c']);
    expect(order('time').map(({ sessionId }) => sessionId)).toEqual(['b', 'a', 'c']);
    expect(order('cost').slice(0, 1)).toMatchObject([
      {
        ...{ sessionId: 'a', agents: ['a1', null], clients: ['codex'] },
        ...{ firstHour: '2026-11-19T10', lastHour: '2026-11-20T10' },
        counters: { requests: 2, costComputedNanoUsd: 9 },
      },
    ]);
    // One of its requests may say which agent started it.
    const started = [null, 'a1'].map((parentAgentId) =>
      counter('a', '2026-11-20T10', 1, { agentId: 'a2', parentAgentId }),
    );
    expect(agentsOf(started)).toMatchObject([{ agentId: 'a2', parentAgentId: 'a1', counters: { requests: 2 } }]);
  });
});
