import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Change, packTransactions, toActions } from '../../lambda/data/ledger/transactions.ts';
import { responseKeyText } from '../../lambda/data/requests/counted-responses.ts';
import type { put } from '../../lambda/data/table/actions.ts';
import { MAX_ACTIONS } from '../../lambda/data/table/actions.ts';
import { reasons } from '../../lambda/domain/price/price-request.ts';
import { contributionOf } from '../../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters, subtractCounters } from '../../lambda/domain/spend/counters.ts';
import type { CountedDimensionName } from '../../lambda/domain/spend/dimensions.ts';
import { durationBucketOf, durationCounterName } from '../../lambda/domain/spend/durations.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { unknownPrice } from '../../lambda/domain/usage/usage.ts';
import { type AccountCloseEvent, type AccountOpenEvent, nameOf } from '../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose, recordOfOpen } from '../../lambda/usage-recorder/build-record.ts';
import { decideChanges, onePerRequest } from '../../lambda/usage-recorder/decide-changes.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';

const context = { revision: 1, overflowLevel: 0, recordedAt: '2026-11-20T12:00:00.000Z', expiresAt: 2_000_000_000 };
/** Of accounts whose months are not sharded. */
const unsharded = { shardedAfter: () => undefined, shardOfRequest: () => 0, shardOfCounter: () => 0 };
const pack = (changes: readonly Change[], today: string) => packTransactions(changes, today, unsharded);
const open = (n: number, facts = {}) => openEvent({ n, ...facts }) as AccountOpenEvent;
const close = (n: number, facts = {}) => closeEvent({ n, ...facts }) as AccountCloseEvent;
const finished = (n: number, facts = {}): RequestRecord =>
  recordOfClose(close(n, facts), priceOfTokens(close(n, facts)), null, context);
const lost = (n: number, facts = {}): RequestRecord => recordOfOpen(open(n, facts), context);

const decideWith = (
  events: readonly (AccountOpenEvent | AccountCloseEvent)[],
  records: readonly RequestRecord[] = [],
) =>
  decideChanges(
    events,
    {
      records: new Map(records.map((record) => [nameOf(record), record])),
      opened: new Set(records.map(nameOf)),
      responses: { countedWith: new Map(), awaited: new Map() },
    },
    { price: priceOfTokens, recordedAt: context.recordedAt, expiresAt: () => context.expiresAt },
  );

describe('onePerRequest', () => {
  it('prefers a close event, and the first of several', () => {
    const first = close(1, { tokens: 1 });
    const second = close(1, { tokens: 2 });
    for (const events of [
      [open(1), first, second],
      [first, open(1), second],
    ])
      expect([...onePerRequest(events).values()]).toEqual([first]);
  });
});

describe('decideChanges', () => {
  it.each([
    ['an open event', open(1), undefined, 1],
    ['a close event', close(1), undefined, 1],
    ['an open event of a request that is recorded as open', open(1), lost(1), 0],
    ['an open event of a finished request', open(1), finished(1), 0],
    ['a close event of a request without one so far', close(1), lost(1), 1],
    ['a close event of a finished request', close(1), finished(1), 0],
  ])('changes the ledger or not for %s', (_, event, record, changes) => {
    expect(decideWith([event], record && [record])).toHaveLength(changes);
  });

  it.each([
    ['in the background', 1, 'r'.repeat(256), true],
    ['under an id that no key holds', 1, 'r'.repeat(257), false],
    ['at once, so that fetching it again is free', 0, 'resp_1', false],
  ])('remembers a response that was made %s, or not', (_, background, id, isCounted) => {
    const billableItems = { 'response.id': id, 'response.background': background };
    const [change] = decideWith([close(1, { reading: { billableItems } })]);
    expect(change?.countsResponse).toBe(isCounted ? id : undefined);
  });

  it('frees what is reserved for a response that is counted already', () => {
    const reserved = { budgetId: 'b1', periodId: 'daily#2026-11-20', minute: 1, nanoUsd: 500, unknownNanoUsd: 9 };
    const billableItems = { 'response.id': 'resp_1', 'response.background': 1, 'response.status': 'queued' };
    const event = close(1, { reservations: [reserved], reading: { usage: null, billableItems } });
    const name = { accountId: event.accountId, provider: event.provider, responseId: 'resp_1' };
    const responses = { countedWith: new Map([[responseKeyText(name), 'another request']]), awaited: new Map() };
    const [change] = decideChanges(
      [event],
      { records: new Map(), opened: new Set(), responses },
      { price: () => unknownPrice(reasons.pending), recordedAt: context.recordedAt, expiresAt: () => 0 },
    );
    expect(change?.awaitsResponse).toBeUndefined();
    expect(change?.reservations).toMatchObject([{ costNanoUsd: 0, uncertainNanoUsd: 0, isPending: false }]);
  });
});

const someChange = fc
  .record({
    n: fc.nat(200),
    accountId: fc.constantFrom('svc_a', 'svc_b'),
    startedAt: fc.constantFrom('2026-11-20T12:00:00.000Z', '2026-11-19T12:00:00.000Z', '2026-10-31T23:00:00.000Z'),
    tag: fc.constantFrom('x', 'y', null),
    tokens: fc.nat(10_000),
    session: fc.option(fc.record({ id: fc.constantFrom('s1', 's2', 's3') }), { nil: undefined }),
    wasLost: fc.boolean(),
    countsResponse: fc.option(fc.uuid(), { nil: undefined }),
    allocations: fc.dictionary(
      fc.constantFrom('client', 'dim:a', 'dim:b', 'dim:c', 'dim:d', 'dim:e'),
      fc.record({
        value: fc.constantFrom('x', 'y', 'z'),
        level: fc.constant(0),
        kept: fc.constant<CountedDimensionName[]>([]),
      }),
    ),
  })
  .map(({ wasLost, countsResponse, allocations, session, ...some }): Change => {
    const facts = { ...some, ...(session && { session }) };
    const before = wasLost ? { ...lost(facts.n, facts), allocations } : null;
    const after = { ...finished(facts.n, facts), allocations };
    return { before, after, ...(countsResponse !== undefined && { countsResponse }) };
  });

describe('packTransactions', () => {
  it('writes every change once, and exactly what it adds, within the limits of a transaction', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(someChange, { maxLength: 250, selector: ({ after }) => after.accountId + after.requestId }),
        (changes) => {
          const transactions = pack(changes, '2026-11-20');
          expect(new Set(transactions.flatMap((transaction) => transaction.changes))).toEqual(new Set(changes));
          let written: Counters = {};
          for (const transaction of transactions) {
            const { changes: own, spendCounters, months, markedDays } = transaction;
            expect(toActions(transaction, 0).actions.length).toBeLessThanOrEqual(MAX_ACTIONS);
            const keys = [
              ...spendCounters.map(({ key }) => `${key.pk}#${key.sk}`),
              ...months.map(({ accountId, month }) => `${accountId}#${month}`),
            ];
            expect(new Set(keys).size).toBe(keys.length);
            const dayOf = ({ after }: Change) => `${after.accountId}${after.startedAt.slice(0, 10)}`;
            const checkedBy = months.map(({ accountId, openDay }) => `${accountId}${openDay}`);
            const isLate = (change: Change) => change.after.startedAt < '2026-11-20';
            // Each day is marked, or the month counter checks that it is open.
            expect(new Set(markedDays.map(({ accountId, day }) => accountId + day))).toEqual(
              new Set(own.filter((change) => isLate(change) || !checkedBy.includes(dayOf(change))).map(dayOf)),
            );
            const isNew = (change: Change) => change.before === null;
            for (const change of own.filter(isNew))
              expect(isLate(change) || checkedBy.includes(dayOf(change))).toBe(true);
            for (const { counters } of spendCounters.filter(({ key }) => key.sk.startsWith('DAY#')))
              written = addCounters(written, counters);
          }
          const expected = changes.reduce<Counters>((sum, { before, after }) => {
            const added = addCounters(sum, contributionOf(after).counters);
            return before ? subtractCounters(added, contributionOf(before).counters) : added;
          }, {});
          expect(written).toEqual(expected);
        },
      ),
    );
  });

  it('keeps counters of hours for 90 days, those of names for 450, and what awaits a response for three', () => {
    const after = { ...finished(1), allocations: { client: { value: 'x', level: 0, kept: [] } } };
    const [transaction] = pack([{ before: null, after, awaitsResponse: 'resp_1' }], '2026-11-20');
    const daysFrom = (expiresAt: number | undefined, start: string) =>
      expiresAt === undefined ? undefined : (expiresAt - Date.parse(start) / 1_000) / 86_400;
    const hour = `${after.startedAt.slice(0, 13)}:00:00Z`;
    const days = transaction?.spendCounters.map(({ expiresAt }) => daysFrom(expiresAt, hour));
    expect(new Set(days)).toEqual(new Set([90, undefined, 450]));
    const awaited = toActions(transaction!, 0).actions[1] as ReturnType<typeof put>;
    const { expiresAt }: { readonly expiresAt?: number } = awaited.Put.Item;
    expect(daysFrom(expiresAt, after.startedAt)).toBe(3);
  });

  it('leaves the month counter alone for a request that is counted already', () => {
    const [transaction] = pack([{ before: lost(1), after: finished(1) }], '2026-11-20');
    expect(transaction?.months).toEqual([]);
    expect(transaction?.spendCounters).toHaveLength(4);
  });

  it('writes no spend counter whose sums do not change', () => {
    const before = finished(1);
    const after = { ...before, revision: 2, priceSource: 'another' };
    const [transaction] = pack([{ before, after }], '2026-11-20');
    expect(transaction?.changes).toHaveLength(1);
    expect(transaction?.spendCounters).toEqual([]);
    expect(transaction?.months).toEqual([]);
  });

  it('writes only the sums that change', () => {
    const before = finished(1);
    const after = { ...before, revision: 2, costNanoUsd: (before.costNanoUsd ?? 0) + 3 };
    const [transaction] = pack([{ before, after }], '2026-11-20');
    expect(transaction?.spendCounters.map(({ counters }) => counters)).toEqual([
      { costComputedNanoUsd: 3 },
      { costComputedNanoUsd: 3 },
    ]);
  });

  it('adds no sum of zero for a request', () => {
    const event = close(1, { tokens: 0 });
    const [transaction] = pack(
      [{ before: null, after: recordOfClose(event, priceOfTokens(event), null, context) }],
      '2026-11-20',
    );
    const sums = { requests: 1, [durationCounterName(durationBucketOf(event.totalMs))]: 1 };
    expect(transaction?.spendCounters.map(({ counters }) => counters)).toEqual([sums, sums]);
  });

  it('keeps large records below the size of a transaction', () => {
    const changes = Array.from({ length: 90 }, (_, n) => {
      const event = close(n, { reading: { usage: { tokens: 1, text: '€'.repeat(10_000) } } });
      return { before: null, after: recordOfClose(event, priceOfTokens(event), null, context) };
    });
    for (const { changes: own } of pack(changes, '2026-11-20'))
      expect(Buffer.byteLength(JSON.stringify(own))).toBeLessThan(4_000_000);
  });
});

describe('recordOfClose', () => {
  it('leaves out a reading that is larger than a record may hold, and marks the record', () => {
    const event = close(1, { reading: { usage: { tokens: 1, text: 'x'.repeat(50_000) } } });
    expect(recordOfClose(event, priceOfTokens(event), null, context)).toMatchObject({
      readingTruncated: true,
      reading: { usage: null, modelServed: 'gpt-4o-2024-08-06' },
      costNanoUsd: 7,
    });
  });
});
