import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatedObjects } from '../../fixtures/emulated-objects.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openDayExports, requestExport } from '../../lambda/data/exports/day-exports.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { ROLLUP_MARK_SHARDS, userKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import type { OwnPrice, Terms } from '../../lambda/domain/own-prices/own-price.ts';
import { withChange } from '../../lambda/domain/own-prices/price-job.ts';
import { exportDay } from '../../lambda/exporter/export-day.ts';
import { openExporting } from '../../lambda/exporter/open-exporting.ts';
import { openMonthPricing } from '../../lambda/usage-recorder/own-prices/price-months.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { checkFocus } from '../../ops/focus/check.ts';
import { openQuery, type Query } from '../../ops/query/duckdb.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { forTests, tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';

/* A closed month of an account with prices of its own: what is bought, used, credited and added. Each request lists at $10. */

const now = Date.parse('2026-12-01T10:00:00.000Z');
const FROM = '2026-11-01T00:00:00.000Z';
const table = tableForTests();
const objects = forTests(emulatedObjects);
let query: Query;
let accountId: string;

const price = (priceId: string, provider: OwnPrice['provider'], terms: Terms): OwnPrice => ({
  priceId,
  name: `My ${priceId}`,
  provider,
  from: FROM,
  until: null,
  terms,
  createdAt: FROM,
  updatedAt: FROM,
});

const prices: readonly OwnPrice[] = [
  price('commitment', 'openai', { kind: 'commitment', usd: 500, per: 'month' }),
  price('unused', 'xai', { kind: 'commitment', usd: 90, per: 'month' }),
  price('discount', 'anthropic', { kind: 'discount', percent: 10 }),
  price('credit', 'anthropic', { kind: 'credit', usd: 20 }),
  price('markup', 'mistral', { kind: 'markup', percent: 20 }),
  price('plan', 'google', { kind: 'subscription' }),
];

const exportAll = async (): Promise<void> => {
  const dayExports = openDayExports(table);
  const exportOne = exportDay(openExporting(table, objects, null, () => now));
  await rollUpDue(table, now, now + HOUR_MS);
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const due of dayExports.due(shard))
      if (due.accountId === accountId) expect(await exportOne(due, () => false)).toBe('exported');
};

/** Sums of the month, in USD, by ChargeCategory and another column. */
const sumsBy = async (column: string, condition = 'true') => {
  const rows = await query.rows(
    `SELECT ChargeCategory AS category, ${column} AS name, sum(BilledCost)::DOUBLE AS billed, sum(EffectiveCost)::DOUBLE AS effective,
       sum(ContractedCost)::DOUBLE AS contracted, sum(ListCost)::DOUBLE AS list, sum(x_Cost)::DOUBLE AS cost
     FROM cost_and_usage WHERE ${condition} GROUP BY ALL ORDER BY ALL`,
  );
  return rows.map(({ category, name, ...sums }) => ({
    category,
    name,
    ...Object.fromEntries(Object.entries(sums).map(([sum, usd]) => [sum, Number(Number(usd).toFixed(2))])),
  }));
};

beforeAll(async () => {
  const account = await newAccount(table, 'PRO');
  ({ accountId } = account);
  await write(table, update(userKey(account.userId), 'SET companyName = :company', null, { company: 'Acme ✓' }));
  const days = [5, 12, 19, 26];
  const events = (['openai', 'anthropic', 'mistral', 'google'] as const).flatMap((provider, at) =>
    days.map((day, n) =>
      closeEvent({
        accountId,
        keyId: account.keyId,
        provider,
        n: at * 10 + n,
        startedAt: `2026-11-${String(day).padStart(2, '0')}T08:00:0${n}.000Z`,
        tokens: 1_428_571_428 + n + at,
      }),
    ),
  );
  await openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => now })(events);
  const store = openOwnPrices(table, () => now);
  const audit = auditEntry(accountId, {}, { action: 'price.created' }, new Date(now));
  await store.change(accountId, (own) => ({ own: withChange(own, prices, new Date(now), new Date(now)), audit }));
  const work = openMonthPricing(table, { price: priceOfTokens, now: () => new Date(now + MINUTE_MS) });
  while ((await store.read(accountId)).own.job) await work(accountId, () => false);
  await exportAll();
  query = await openQuery(objects.folder);
});
afterAll(() => query?.close());

describe('an exported month of an account with own prices', () => {
  it('is a month whose billed and effective costs add up to what is paid', async () => {
    expect(await sumsBy('CommitmentDiscountName', 'CommitmentDiscountId IS NOT NULL')).toEqual([
      { category: 'Purchase', name: 'My commitment', billed: 500, effective: 0, contracted: 500, list: 500, cost: 0 },
      { category: 'Purchase', name: 'My unused', billed: 90, effective: 0, contracted: 90, list: 90, cost: 0 },
      { category: 'Usage', name: 'My commitment', billed: 0, effective: 500, contracted: 40, list: 40, cost: 500 },
      { category: 'Usage', name: 'My unused', billed: 0, effective: 90, contracted: 0, list: 0, cost: 0 },
    ]);
    expect(await sumsBy('ProviderName', `CommitmentDiscountId IS NULL`)).toEqual([
      { category: 'Credit', name: 'Anthropic', billed: -20, effective: -20, contracted: -20, list: -20, cost: 0 },
      { category: 'Usage', name: 'Anthropic', billed: 36, effective: 36, contracted: 36, list: 40, cost: 16 },
      { category: 'Usage', name: 'Google Gemini', billed: 0, effective: 0, contracted: 0, list: 40, cost: 0 },
      { category: 'Usage', name: 'Mistral', billed: 40, effective: 40, contracted: 40, list: 40, cost: 48 },
    ]);
    const [whole] = await query.rows(
      `SELECT sum(BilledCost)::DOUBLE AS billed, sum(EffectiveCost)::DOUBLE AS effective FROM cost_and_usage`,
    );
    expect(whole).toEqual({ billed: whole?.['effective'], effective: expect.anything() });
  });

  it('is the ledger in x_Cost, to the nano-dollar', async () => {
    let cost = 0;
    for await (const { counters } of openSpendCounters(table).days(accountId, '2026-11-01', '2026-11-30'))
      cost += (counters.costComputedNanoUsd ?? 0) + (counters.costEstimatedNanoUsd ?? 0);
    const [sum] = await query.rows('SELECT (sum(x_Cost) * 1000000000)::BIGINT::VARCHAR AS cost FROM cost_and_usage');
    expect(sum).toEqual({ cost: String(cost) });
  });

  it('has one contracted price for each price of a provider', async () => {
    const [found] = await query.rows(
      `SELECT max(n)::INT AS most FROM (SELECT count(DISTINCT ContractedUnitPrice) AS n FROM cost_and_usage
       WHERE x_RequestId IS NOT NULL AND ConsumedUnit = 'Tokens' GROUP BY SkuPriceId)`,
    );
    expect(Number(found?.['most'] ?? 1)).toBe(1);
  });

  it('follows FOCUS 1.2 with no error', async () => {
    expect(await checkFocus(query)).toEqual([]);
  });

  it('has names next to ids, which queries show as they are now, also in days that were not exported again', async () => {
    const email = (await openUsers(table).recipients(accountId))[0]?.email;
    const namesIn = async (from: Query) => ({
      requests: await from.rows('SELECT DISTINCT key_name, project, project_name, member_name FROM requests'),
      charges: await from.rows(
        `SELECT DISTINCT BillingAccountName AS account, x_ServiceKeyName AS key, SubAccountName AS project, x_MemberName AS member
         FROM cost_and_usage WHERE x_RequestId IS NOT NULL`,
      ),
    });
    const expected = (project: string) => ({
      requests: [{ key_name: 'default', project: 'default', project_name: project, member_name: email }],
      charges: [{ account: 'Acme ✓', key: 'default', project, member: email }],
    });
    expect(await namesIn(query)).toEqual(expected('Default'));
    const audit = auditEntry(accountId, {}, { action: 'project.renamed' }, new Date(now));
    await openProjects(table).rename('default', 'Suche', audit);
    await write(table, requestExport(accountId, '2026-11-30', now));
    await exportAll();
    const later = await openQuery(objects.folder);
    expect(await namesIn(later)).toEqual(expected('Suche'));
    expect(await later.rows(`SELECT kind, id, project FROM names ORDER BY kind`)).toEqual([
      { kind: 'key', id: expect.any(String), project: 'default' },
      { kind: 'member', id: expect.any(String), project: null },
      { kind: 'project', id: 'default', project: null },
    ]);
    later.close();
  });

  it('is read without names where it was exported before there were files of them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'exports-'));
    const withoutNames = (path: string) => !path.includes('/names');
    await cp(objects.folder, folder, { recursive: true, filter: withoutNames });
    const older = await openQuery(folder);
    expect(await older.rows('SELECT count(*)::INT AS n FROM requests')).toEqual([{ n: 16 }]);
    await expect(older.rows('SELECT * FROM names')).rejects.toThrow();
    older.close();
  });
});
