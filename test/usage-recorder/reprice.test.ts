import { describe, expect, it } from '@jest/globals';
import { cancelled, interceptTable, refusal } from '../../fixtures/intercept-table.ts';
import { openReservations } from '../../lambda/data/ledger/reservations.ts';
import { openCountedResponses } from '../../lambda/data/requests/counted-responses.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { reservedBudgetKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { reasons } from '../../lambda/domain/price/price-request.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { unknownPrice } from '../../lambda/domain/usage/usage.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens, requestIdAt } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');
const STARTED_AT = '2026-11-20T12:00:00.000Z';

const table = tableForTests();

type Price = typeof priceOfTokens;
/** A price book in which a token costs `factor` times as much. */
const times =
  (factor: number): Price =>
  (event) => {
    const priced = priceOfTokens(event);
    return { ...priced, costNanoUsd: priced.costNanoUsd && factor * priced.costNanoUsd };
  };
const noPrice: Price = () => priceOfTokens({ reading: { ...closeEvent().reading, usage: null } });

let accounts = 0;
const newAccountId = () => `svc_${++accounts}`;

const record = async (events: readonly UsageEvent[], price: Price = priceOfTokens) => {
  for (const event of events) {
    const [result] = await openRecorder(table, { logger: { error: () => {} }, price, now: () => NOW })([event]);
    expect(result?.kind).toBe('recorded');
  }
};
/** The requests of an account, the first one first. */
const recordsOf = async (accountId: string) => {
  const range = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
  return (await openRequests(table, () => NOW).page(accountId, { ...range, limit: 100 })).items.toReversed();
};
const sumsOf = async (accountId: string) => total((await ledgerSums(table, accountId, [])).days);
const reprice = async (accountId: string, price: Price, { dryRun = false, of = table as Table } = {}) =>
  openRepricer(of, price)(await recordsOf(accountId), { dryRun });

const failingWrites = (error: () => Error) => {
  const seen = { writes: 0 };
  const failing = interceptTable(table, async (command, send) => {
    if (command.operation !== 'TransactWriteItems') return send();
    seen.writes += 1;
    throw error();
  });
  return { seen, failing };
};

describe('openRepricer', () => {
  it('changes records and counters by the difference, once', async () => {
    const accountId = newAccountId();
    await record([closeEvent({ accountId, n: 1, tokens: 10 }), closeEvent({ accountId, n: 2, tokens: 20 })]);
    const before = await sumsOf(accountId);
    expect(await reprice(accountId, times(3))).toMatchObject({
      failed: 0,
      changes: [10, 20].map((tokens) => ({
        before: { costNanoUsd: 7 * tokens, revision: 1 },
        after: { costNanoUsd: 21 * tokens, revision: 2 },
      })),
    });
    expect((await recordsOf(accountId)).map(({ costNanoUsd, revision }) => [costNanoUsd, revision])).toEqual([
      [210, 2],
      [420, 2],
    ]);
    expect(await sumsOf(accountId)).toEqual({ ...before, costComputedNanoUsd: 630 });
    expect(await reprice(accountId, times(3))).toEqual({ changes: [], failed: 0 });
  });

  it('writes nothing in a dry run', async () => {
    const accountId = newAccountId();
    await record([closeEvent({ accountId, tokens: 10 })]);
    const before = await recordsOf(accountId);
    const { changes, failed } = await reprice(accountId, times(3), { dryRun: true });
    expect([changes.length, failed]).toEqual([1, 0]);
    expect(await recordsOf(accountId)).toEqual(before);
  });

  it.each([
    ['without a close event', openEvent({ n: 1 }), priceOfTokens],
    [
      'whose reading was left out',
      closeEvent({ n: 1, reading: { usage: { tokens: 1, text: 'x'.repeat(50_000) } } }),
      priceOfTokens,
    ],
    ['of the same price with its members in another order', closeEvent({ n: 1, tokens: 10 }), times(3)],
  ])('leaves a request %s as it is', async (_, event, recordedAt) => {
    const accountId = newAccountId();
    await record([{ ...event, accountId } as UsageEvent], recordedAt);
    const reordered: Price = (of) => {
      const { lines, usage, ...price } = times(3)(of);
      const reverse = (members: object) => Object.fromEntries(Object.entries(members).reverse());
      return { ...price, usage: usage && reverse(usage), lines: lines.map(reverse) } as unknown as ReturnType<Price>;
    };
    expect(await reprice(accountId, reordered)).toEqual({ changes: [], failed: 0 });
  });

  it.each([
    ['usage', (price: ReturnType<Price>) => ({ ...price, usage: price.usage && { ...price.usage, outputTokens: 1 } })],
    ['price source', (price: ReturnType<Price>) => ({ ...price, priceSource: 'other' })],
    ['price lines', (price: ReturnType<Price>) => ({ ...price, lines: [] })],
    ['provenance', (price: ReturnType<Price>) => ({ ...price, provenance: 'estimated' as const })],
    ['reason', (price: ReturnType<Price>) => ({ ...price, reason: 'Another reason.' })],
  ])('writes a record whose %s alone changes', async (_, change) => {
    const accountId = newAccountId();
    await record([closeEvent({ accountId, tokens: 10 })]);
    const { changes } = await reprice(accountId, (event) => change(priceOfTokens(event)));
    expect(changes).toHaveLength(1);
    expect((await recordsOf(accountId))[0]?.revision).toBe(2);
  });

  const ofResponse = { method: 'GET', path: '/v1/responses/resp_1', tokens: 10 };
  const reading = { dialect: 'openai-responses' as const, billableItems: { 'response.id': 'resp_1' } };

  it('counts a response with the first request that gets a price, and shows the other as free', async () => {
    const accountId = newAccountId();
    await record(
      [1, 2].map((n) => closeEvent({ accountId, n, ...ofResponse, reading })),
      noPrice,
    );
    expect((await reprice(accountId, priceOfTokens, { dryRun: true })).changes).toHaveLength(2);
    const { changes } = await reprice(accountId, priceOfTokens);
    expect(changes.map(({ after }) => [after.requestId, after.repeatOf])).toEqual([
      [requestIdAt(STARTED_AT, 1), null],
      [requestIdAt(STARTED_AT, 2), requestIdAt(STARTED_AT, 1)],
    ]);
    const { costComputedNanoUsd, freeRequests, unpricedRequests } = await sumsOf(accountId);
    expect([costComputedNanoUsd, freeRequests, unpricedRequests]).toEqual([70, 1, undefined]);
    const name = { accountId, provider: 'openai', responseId: 'resp_1' };
    expect([...(await openCountedResponses(table).find([name])).countedWith.values()]).toEqual([
      requestIdAt(STARTED_AT, 1),
    ]);
    expect(await reprice(accountId, priceOfTokens)).toEqual({ changes: [], failed: 0 });
    expect((await reprice(accountId, times(2))).changes).toHaveLength(1);
  });

  it('frees what was reserved for a response that it counts first', async () => {
    const accountId = newAccountId();
    const reserved = { budgetId: 'b1', periodId: 'daily#2026-11-20T00:00:00.000Z', minute: 29_749_680 };
    const key = reservedBudgetKey(accountId, reserved.budgetId, reserved.periodId);
    await write(table, update(key, `ADD committed :n, m${reserved.minute} :n`, null, { n: 500 }));
    const reservations = [{ ...reserved, nanoUsd: 500, unknownNanoUsd: 0 }];
    await record([closeEvent({ accountId, n: 1, reading, reservations })], () => unknownPrice(reasons.pending));
    await record([closeEvent({ accountId, n: 2, ...ofResponse, reading })], noPrice);
    const left = async () => [...(await openReservations(table).read(accountId, reserved)).reserved.values()];
    expect(await left()).toContain(500);
    const [, result] = await recordsOf(accountId);
    expect(await openRepricer(table, priceOfTokens)([result as RequestRecord], { dryRun: false })).toMatchObject({
      failed: 0,
      changes: [{ after: { costNanoUsd: 70 } }],
    });
    expect([...new Set(await left())]).toEqual([0]);
    expect((await openReservations(table).read(accountId, reserved)).finishedNanoUsd).toBe(70);
  });

  it('leaves a repeated response free', async () => {
    const accountId = newAccountId();
    await record([1, 2].map((n) => closeEvent({ accountId, n, ...ofResponse, reading })));
    expect((await reprice(accountId, times(3))).changes.map(({ after }) => after.requestId)).toEqual([
      requestIdAt(STARTED_AT, 1),
    ]);
    expect(await sumsOf(accountId)).toMatchObject({ costComputedNanoUsd: 210, freeRequests: 1 });
    await reprice(accountId, noPrice);
    expect(await sumsOf(accountId)).toMatchObject({ unpricedRequests: 1, freeRequests: 1 });
  });

  it('shows no range of an estimate once the cost is not estimated', async () => {
    const accountId = newAccountId();
    const estimateRange = { leastNanoUsd: 1, mostNanoUsd: 2 };
    await record([closeEvent({ accountId, tokens: 10 })], (event) => ({ ...priceOfTokens(event), estimateRange }));
    expect((await recordsOf(accountId))[0]).toMatchObject({ estimateRange });
    await reprice(accountId, noPrice);
    expect((await recordsOf(accountId))[0]).not.toHaveProperty('estimateRange');
  });

  it('reads and decides again where a record changed since it was read', async () => {
    const accountId = newAccountId();
    await record([closeEvent({ accountId, tokens: 10 })]);
    const outdated = await recordsOf(accountId);
    await reprice(accountId, times(2));
    const result = await openRepricer(table, times(3))(outdated, { dryRun: false });
    expect(result).toMatchObject({ failed: 0, changes: [{ before: { revision: 2 }, after: { costNanoUsd: 210 } }] });
    expect(await openRepricer(table, times(3))(outdated, { dryRun: false })).toEqual({ changes: [], failed: 0 });
  });

  it('reports changes that cannot be written, and those that are overtaken in every round', async () => {
    const accountId = newAccountId();
    await record([closeEvent({ accountId, tokens: 10 })]);
    const refusing = failingWrites(() => refusal('ValidationException'));
    expect(await reprice(accountId, times(3), { of: refusing.failing })).toEqual({ changes: [], failed: 1 });
    expect(refusing.seen.writes).toBe(1);
    const contended = failingWrites(() => cancelled(['ConditionalCheckFailed']));
    expect(await reprice(accountId, times(3), { of: contended.failing })).toEqual({ changes: [], failed: 1 });
    expect(contended.seen.writes).toBe(5);
    expect((await recordsOf(accountId))[0]).toMatchObject({ revision: 1, costNanoUsd: 70 });
  });
});
