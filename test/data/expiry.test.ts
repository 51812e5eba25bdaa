import { expect, it } from '@jest/globals';
import { openAddressCodes } from '../../lambda/data/accounts/address-codes.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { markDeleted } from '../../lambda/data/accounts/delete-items.ts';
import { openMembers } from '../../lambda/data/accounts/members.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBillingEvents } from '../../lambda/data/billing/billing-events.ts';
import { openModelUse } from '../../lambda/data/prices/model-use.ts';
import { openPriceDrift } from '../../lambda/data/prices/price-drift.ts';
import { openPriceChanges } from '../../lambda/data/prices/repricing.ts';
import { openReports } from '../../lambda/data/reports/reports.ts';
import { reportKey } from '../../lambda/data/table/keys.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { sampleRun } from '../domain/reports/sample-run.ts';
import { tableForEachTest } from '../table-for-tests.ts';

const DAY = '2026-11-20';
const now = new Date(DAY);
const at = now.toISOString();
const accountId = 'account-1';
const table = tableForEachTest();

const entry = () => auditEntry(accountId, {}, { action: 'invitation.sent' }, now);
const invitation = () => ({
  ...({
    invitationId: 'i',
    accountId,
    email: 'ada@example.com',
    role: 'viewer',
    tokenHash: 'h',
    invitedBy: 'u',
  } as const),
  ...{ createdAt: at, sentAt: at, validUntil: at },
});
const costs = { provider: 'openai', model: 'gpt-4o', requests: 1, reportedNanoUsd: 1, bookNanoUsd: 1 } as const;

it.each<[string, number[], () => Promise<unknown>]>([
  [
    'that an alert has fired',
    [60],
    () =>
      openAlerts(table).notify(
        { ...sampleAlert, period: { name: 'daily', start: '2026-11-19T00:00:00.000Z', end: at } },
        'plan',
      ),
  ],
  // Events are taken for 29 days.
  ['that an account is deleted', [30], () => markDeleted(table, accountId, now)],
  [
    'the code for an address',
    [2],
    () => openAddressCodes(table).issue('user', 'ada@example.com', '12345678', now.getTime()),
  ],
  ['an entry of the audit log', [400], () => openAuditLog(table).record(entry())],
  ['an invitation, and how many were mailed', [2, 30, 400], () => openMembers(table).invite(invitation(), entry())],
  ['an event of Stripe', [40], () => openBillingEvents(table, () => now.getTime()).markDone('evt', 'invoice.paid')],
  [
    'that an account used a model',
    [40],
    () => openModelUse(table).note({ day: DAY, accountId, provider: 'openai', model: 'gpt-4o' }),
  ],
  ['what a provider reported', [40], () => openPriceDrift(table).add(DAY, costs)],
  [
    'the effect of a price',
    [400],
    () => openPriceChanges(table).note(accountId, { version: 1, day: DAY, repricedAt: at, differences: [] }),
  ],
  [
    'a report of a period',
    [90],
    async () => {
      const run = { ...sampleRun(['Weekly']), createdAt: at };
      await table.call('PutItem', { TableName: table.name, Item: { ...reportKey(run.accountId, run.reportId) } });
      await openReports(table).startNow(run);
    },
  ],
])('the table forgets %s after %j days', async (_, days, write) => {
  await write();
  const { Items = [] } = await table.call('Scan', { TableName: table.name });
  const expiring = Items.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [Number(expiresAt)]));
  expect(expiring.map((seconds) => (seconds - now.getTime() / 1_000) / 86_400).sort((a, b) => a - b)).toEqual(days);
});
