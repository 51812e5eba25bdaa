import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bundledBook } from '../../fixtures/bundled-prices.ts';
import { filesOf } from '../../fixtures/open-dashboard.ts';
import { manageBills } from '../../lambda/dashboard/reconciliation/bills.ts';
import * as operations from '../../lambda/dashboard/reconciliation/operations.ts';
import { readReconciliation } from '../../lambda/dashboard/reconciliation/read-reconciliation.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openTrackingGaps } from '../../lambda/data/ledger/tracking-gaps.ts';
import { openBills } from '../../lambda/data/reconciliation/bills.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { addDays } from '../../lambda/domain/calendar/utc.ts';
import { attoUsdPerUnit } from '../../lambda/domain/money.ts';
import type { PriceBook } from '../../lambda/domain/price/rates.ts';
import { route } from '../../lambda/http/operation.ts';
import { openBillSource } from '../../lambda/integrations/bills/bill-sources.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { invoke, refusedWith, serve } from '../http/invoke.ts';
import { type BilledDay, CREDENTIAL, startMockBills } from '../integrations/bills/mock-bills.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';

const TOKEN_NANO_USD = 7;
const NOW = new Date('2026-11-22T10:00:00.000Z');

const table = tableForTests();
let handler: unknown;
let caller: Awaited<ReturnType<typeof newAccount>>;
let book: PriceBook;

beforeAll(async () => {
  const bills = openBills(table);
  handler = serve([
    route(operations.importBill, manageBills(filesOf(table, () => NOW)).importBill),
    route(
      operations.readReconciliation,
      readReconciliation({
        bills,
        readCounters: openSpend(table).read,
        readTrackingGaps: openTrackingGaps(table).gaps,
        loadBook: async () => book,
      }),
    ),
  ]);
});
beforeEach(async () => {
  caller = await newAccount(table, 'PRO');
  book = bundledBook;
});

const bill = (csv: string, provider = 'openai') =>
  invoke(handler, { method: 'PUT', path: `/api/bills/${provider}`, body: { csv }, caller });
const compare = (from = '2026-11-20', to = '2026-11-21', provider = 'openai') =>
  invoke(handler, { method: 'GET', path: `/api/reconciliation/${provider}`, query: { from, to }, caller });

/** One request of so many tokens for each number, on the day. */
const record = async (day: string, tokens: readonly number[]) => {
  const recorder = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => NOW.getTime() });
  await recorder(
    tokens.map((each, n) =>
      closeEvent({ n, accountId: caller.accountId, startedAt: `${day}T12:00:00.000Z`, tokens: each }),
    ),
  );
};
const usd = (nanoUsd: number) => (nanoUsd / 1e9).toFixed(9);

it('has the import of a bill in the audit log', async () => {
  await bill('day,amount\n2026-11-01,1\n');
  const { items } = await openAuditLog(table).page(caller.accountId, { from: '2026', to: '2100', limit: 1 });
  expect(items).toMatchObject([{ action: 'bill.imported', details: { provider: 'openai', days: '1', lines: '1' } }]);
});

describe('a comparison with the bill', () => {
  it('agrees where the bill has what is on record', async () => {
    await record('2026-11-20', [1_000_000, 2_000_000]);
    expect(
      await bill(`day,amount,model\n2026-11-20,${usd(3_000_000 * TOKEN_NANO_USD)},gpt-4o-2024-08-06`),
    ).toMatchObject({
      status: 200,
      body: { days: ['2026-11-20'], lines: 1 },
    });
    expect((await compare()).body).toMatchObject({
      billedDays: 1,
      billedUsd: '0.021',
      recordedUsd: '0.021',
      throughGatewayShare: 1,
      differences: [],
      findings: [],
      readAt: NOW.toISOString(),
    });
  });

  it('names what did not pass the gateway, and what is not billed yet', async () => {
    await record('2026-11-20', [1_000_000]);
    await record('2026-11-21', [500_000]);
    await bill('day,amount,model\n2026-11-20,0.107,gpt-4o\n2026-11-20,1.5,o3');
    const { body } = await compare();
    expect(body.differences).toEqual([
      { bucket: 'notThroughGateway', amountNanoUsd: 1_600_000_000, amountUsd: '1.6' },
      { bucket: 'notBilledYet', amountNanoUsd: -3_500_000, amountUsd: '-0.0035' },
    ]);
    expect(body.findings[0]).toEqual({
      bucket: 'notThroughGateway',
      day: '2026-11-20',
      model: 'o3',
      item: null,
      amountNanoUsd: 1_500_000_000,
      amountUsd: '1.5',
    });
    expect(body.throughGatewayShare).toBeCloseTo(0.007 / 1.607, 9);
    await bill('day,amount,model,item\n2026-11-20,0.107,gpt-4o,\n2026-11-20,1.5,o3,\n2026-11-20,-1,,Credit grant');
    expect((await compare()).body.throughGatewayShare).toBeCloseTo(0.007 / 1.607, 9);
  });

  it('counts the requests of unknown cost, which what is on record does not include', async () => {
    const unknown = { priceSource: null, provenance: 'unknown', costNanoUsd: null, lines: [] } as const;
    const price = () => ({ ...priceOfTokens(closeEvent()), ...unknown });
    const recorder = openRecorder(table, { logger: { error: () => {} }, price, now: () => NOW.getTime() });
    const facts = { accountId: caller.accountId, startedAt: '2026-11-20T12:00:00.000Z' };
    await recorder([1, 2].map((n) => closeEvent({ n, ...facts })));
    expect((await compare()).body).toMatchObject({ recordedUsd: '0', unpricedRequests: 2 });
  });

  it('takes proportions from the book that requests are priced with', async () => {
    await record('2026-11-20', [1_000_000]);
    const line = { day: '2026-11-20', item: 'tokens', model: 'gpt-4o', amountNanoUsd: 70_000_000 };
    const tokens = { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 1_000_000 };
    const usage = [{ day: '2026-11-20', model: 'gpt-4o', tokens, requests: null }];
    await openBills(table).replace(caller.accountId, 'openai', { lines: [line], usage }, NOW.toISOString());
    book = () => ({ source: 'test', match: 'name', version: '7', rates: { input: 1n, output: 9n } });
    expect((await compare()).body.differences).toEqual([
      { bucket: 'notThroughGateway', amountNanoUsd: 63_000_000, amountUsd: '0.063' },
    ]);
    book = () => ({ source: 'test', match: 'name', version: '8', rates: { input: 1n, output: 1n } });
    expect((await compare()).body.differences).toEqual([
      { bucket: 'notThroughGateway', amountNanoUsd: 35_000_000, amountUsd: '0.035' },
      { bucket: 'priceDiffers', amountNanoUsd: 28_000_000, amountUsd: '0.028' },
    ]);
  });

  it('names nothing falsely in four weeks of markups, own keys and cache writes', async () => {
    const store = openOwnPrices(table);
    const markup = {
      ...{ priceId: 'p', name: 'Charged on', from: '2026-10-01T00:00:00.000Z', until: null },
      terms: { kind: 'markup', percent: 7.77 } as const,
      ...{ createdAt: NOW.toISOString(), updatedAt: NOW.toISOString() },
    };
    const fact = { action: 'price.created', details: {} } as never;
    const audit = auditEntry(caller.accountId, { actor: { userId: 'u', name: 'ada' } }, fact, NOW);
    await store.change(caller.accountId, (own) => ({ own: { ...own, prices: [markup] }, audit }));
    const rates = { input: 2.5, cacheRead: 0.25, cacheWrite: 3.125, output: 15 };
    const perToken = Object.fromEntries(Object.entries(rates).map(([kind, usd]) => [kind, attoUsdPerUnit(usd, 1e6)]));
    book = () => ({ source: 'test', match: 'name', version: '1', rates: perToken });
    const options = { logger: { error: () => {} }, loadBook: async () => book, now: () => NOW.getTime() };
    const recorder = openRecorder(table, options);
    const days = Array.from({ length: 28 }, (_, at) => addDays('2026-10-25', at));
    const counts = { input: 300_000, cached: 600_000, written: 100_000, output: 50_000, requests: 1_000 };
    const usd = 0.3 * 2.5 + 0.6 * 0.25 + 0.1 * 3.125 + 0.05 * 15;
    await recorder(
      days.flatMap((day, n) => {
        const facts = { accountId: caller.accountId, startedAt: `${day}T12:00:00.000Z` };
        const openai = {
          prompt_tokens: 1_000_000,
          completion_tokens: 50_000,
          total_tokens: 1_050_000,
          prompt_tokens_details: { cached_tokens: 600_000, cache_write_tokens: 100_000 },
        };
        const openrouter = { ...openai, cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } };
        return [
          closeEvent({ ...facts, n: 2 * n, reading: { usage: openai, modelServed: 'gpt-cached' } }),
          closeEvent({
            ...facts,
            ...{ n: 2 * n + 1, provider: 'openrouter', path: '/api/v1/chat/completions' },
            reading: { usage: openrouter, modelServed: 'openai/gpt-cached' },
          }),
        ];
      }),
    );
    const billed = (isOutside: boolean) =>
      days.map((day) => {
        const times = isOutside ? 1.3 : 1;
        const billed = Object.entries({ ...counts, usd }).map(([name, count]) => [name, count * times]);
        return { day, model: 'gpt-cached', ...Object.fromEntries(billed) } as BilledDay;
      });
    const mock = await startMockBills();
    const read = async (provider: 'openai' | 'openrouter', of: BilledDay[]) => {
      mock.days = of;
      const range = { from: days[0] as string, to: days.at(-1) as string };
      const source = openBillSource(provider, new Map([[provider, mock.origin]]));
      await openBills(table).replace(
        caller.accountId,
        provider,
        await source.read(CREDENTIAL, range),
        NOW.toISOString(),
      );
      const { body } = await compare(range.from, range.to, provider);
      return body;
    };
    try {
      const ownKey = billed(false).map((day) => ({ ...day, model: 'openai/gpt-cached', usd: 0.05, ownKeyUsd: 1 }));
      expect(await read('openrouter', ownKey)).toMatchObject({ recordedUsd: '29.4', differences: [] });
      expect(await read('openai', billed(false))).toMatchObject({ differences: [] });
      expect((await read('openai', billed(true))).differences).toEqual([
        { bucket: 'notThroughGateway', amountUsd: '16.485', amountNanoUsd: 16_485_000_000 },
      ]);
    } finally {
      await mock.stop();
    }
  });

  it('takes a corrected bill in place of the first, and keeps other days', async () => {
    await bill('day,amount\n2026-11-20,1\n2026-11-21,2');
    await bill('day,amount\n2026-11-20,3');
    expect((await compare()).body).toMatchObject({ billedUsd: '5', billedDays: 2 });
  });

  it('is of one account and one provider', async () => {
    await bill('day,amount\n2026-11-20,1', 'anthropic');
    expect((await compare()).body).toMatchObject({
      ...{ billedDays: 0, billedNanoUsd: null, billedUsd: null, throughGatewayShare: null, readAt: null },
    });
    await bill('day,amount\n2026-11-20,1');
    caller = await newAccount(table, 'PRO');
    expect((await compare()).body).toMatchObject({ billedDays: 0 });
  });

  it.each([
    ['2026-11-21', '2026-11-20', 'to'],
    ['2026-08-20', '2026-11-20', 'to'],
    ['2026-11-20', '9998-12-31', 'to'],
    ['2026-11-20', '9999-12-31', 'to'],
    ['9999-12-01', '9999-12-31', 'to'],
    ['2026-11-31', '2026-11-30', 'from'],
  ])('refuses days from %s to %s', async (from, to, path) => {
    expect(await compare(from, to)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: [{ path: expect.stringContaining(path) }] } },
    });
  });

  it('refuses an invoice that it cannot read, and stores none of it', async () => {
    expect(await bill('day,amount\n2026-11-20,1\n2026-11-20,one')).toMatchObject(
      refusedWith(400, 'VALIDATION_ERROR', 'line 3'),
    );
    expect((await compare()).body).toMatchObject({ billedDays: 0 });
    const many = `day,amount\n${'2026-11-20,0.01\n'.repeat(501)}`;
    expect(await bill(many)).toMatchObject({ status: 400 });
    expect(await bill('day,amount\n2026-11-20,1', 'nobody')).toMatchObject({ status: 400 });
  });
});
