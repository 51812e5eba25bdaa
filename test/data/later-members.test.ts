import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openReports } from '../../lambda/data/reports/reports.ts';
import { ownPricesKey, reportKey, ruleKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { noPrices } from '../../lambda/domain/own-prices/own-price.ts';
import { tableForTests } from '../table-for-tests.ts';
import { newAccount } from './new-account.ts';

const table = tableForTests();

/** Both versions write the same items while one replaces the other, and an earlier one may come back. */
describe('members that a later version wrote stay', () => {
  it('in a rule that is changed and switched off', async () => {
    const { accountId } = await newAccount(table);
    const rule = ruleOf(accountId);
    await openRules(table).create({ ...rule, labels: ['a'] } as typeof rule);
    const read = await openRules(table).find(accountId, rule.ruleId);
    await openRules(table).replace({ ...read, isActive: false, revision: 2 }, 1);
    const item = await findItem(table, ruleKey(accountId, rule.ruleId));
    expect(item).toMatchObject({ labels: ['a'], isActive: false, revision: 2 });
    expect(item).not.toHaveProperty('gsi1pk');
    expect(item).not.toHaveProperty('condition');
  });

  it('in a report that is changed and switched off', async () => {
    const { accountId } = await newAccount(table);
    const at = '2026-11-01T00:00:00.000Z';
    const schedule = { every: 'daily', hour: 8 } as const;
    const facts = { accountId, reportId: 'r', name: 'n', schedule, groupBy: ['model' as const], channels: [] };
    const due = { nextDay: '2026-11-20', nextAt: '2026-11-21T08:00:00.000Z', failures: 0, revision: 1 };
    const report = { ...facts, ...due, recipients: null, isActive: true, webhook: null, createdAt: at, updatedAt: at };
    const audit = auditEntry(accountId, {}, { action: 'report.created', subject: 'r' }, new Date(at));
    const reports = openReports(table);
    await reports.create({ ...report, labels: ['a'] } as typeof report, audit);
    const read = await reports.find(accountId, 'r');
    await reports.replace({ ...read, isActive: false, revision: 2 }, 1, { ...audit, auditId: 'b' });
    const item = await findItem(table, reportKey(accountId, 'r'));
    expect(item).toMatchObject({ labels: ['a'], isActive: false, revision: 2 });
    expect(item).not.toHaveProperty('gsi1pk');
  });

  it('in prices, their months and their job, where a job goes on', async () => {
    const at = '2026-11-01T00:00:00.000Z';
    const terms = { kind: 'discount', percent: 5 };
    const price = { priceId: 'p', name: 'n', from: at, until: null, terms, createdAt: at, updatedAt: at, region: 'eu' };
    const factor = { numerator: '1', denominator: '2', sum: '3', isShared: true, credits: 4 };
    const month = { factors: { p: factor }, asOf: at, isFinal: false, counted: '', closedBy: 'job' };
    const stored = { ...noPrices, prices: [price], months: { '2026-11': month }, agreements: [5] };
    const Item = { ...ownPricesKey('account'), version: 1, json: JSON.stringify(stored) };
    await table.call('PutItem', { TableName: table.name, Item });
    const prices = openOwnPrices(table);
    const { version, own } = await prices.read('account');
    expect(await prices.keepProgress('account', version, { ...own, checkedAt: at })).toBe(true);
    const item = await findItem(table, ownPricesKey('account'));
    expect(JSON.parse(String(item?.['json']))).toEqual({ ...stored, checkedAt: at });
  });
});
