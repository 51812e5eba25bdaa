import { describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { filesOf } from '../../fixtures/open-dashboard.ts';
import { manageArchives } from '../../lambda/dashboard/archives/manage-archives.ts';
import * as archives from '../../lambda/dashboard/archives/operations.ts';
import { manageBills } from '../../lambda/dashboard/reconciliation/bills.ts';
import { listBillConnections } from '../../lambda/dashboard/reconciliation/operations.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import {
  accountApiTokenKey,
  accountKey,
  accountServiceKeyKey,
  accountUserKey,
  alertKey,
  archiveKey,
  billConnectionKey,
  blocksKey,
  destinationKey,
  invitationKey,
  ownPricesKey,
  reportKey,
  ruleKey,
  savedViewKey,
  savingKey,
  userKey,
} from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import { route, routes } from '../../lambda/http/operation.ts';
import { newKey, newMember } from '../data/new-account.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { callAs, refusedWith, serve } from '../http/invoke.ts';
import { dashboardForTests } from './open-dashboard.ts';
import { identityApi } from './open-identity.ts';

const { table, caller, call } = dashboardForTests({ webhookUrlProblem: async () => undefined });

const put = (item: Record<string, unknown>) => table.call('PutItem', { TableName: table.name, Item: item });

/** Stores an item next to another, with members of a later version. */
const putLater = async (key: typeof ruleKey, id: string, members: object) =>
  put({ ...(await findItem(table, key(caller.accountId, id))), ...key(caller.accountId, 'later'), ...members });

const lists = async (path: string, id: string, unreadable?: number, of = call) => {
  expect(id).toEqual(expect.any(String));
  const { status, body } = await of('GET', path);
  expect({ status, ids: body.items?.map((item: { id: string }) => item.id), unreadable: body.unreadable }).toEqual({
    ...{ status: 200, ids: [id], unreadable },
  });
};

/** Who may sign in and what they may do, with a user pool that takes everything. */
const directory = { createUser: async () => uuidv7(), setPassword: async () => {}, deleteUser: async () => {} };
const sessions = { endSessions: async () => {} };
const identityOf = () => callAs(identityApi(table, { directory, sessions }), caller);

const AT = '2026-11-20T16:00:00Z';
const channels = { channels: ['email'], isActive: true };
const rule = { type: 'cost_threshold', name: 'r', config: { threshold: 50, period: 'daily' }, ...channels };
const report = { name: 'r', schedule: { every: 'daily', hour: 8 }, groupBy: ['model'], ...channels };
const budget = { name: 'b', amount: 10, period: 'monthly', block: {} };

describe('a later version that was replaced by an earlier one', () => {
  it('leaves the rules and budgets that can be read, and counts the others', async () => {
    const { id } = (await call('POST', '/alert-rules', rule)).body;
    const { id: budgetId } = (await call('POST', '/budgets', budget)).body;
    await putLater(ruleKey, id, { ruleId: 'later', type: 'of a later version' });
    await lists('/alert-rules', id, 1);
    await lists('/budgets', budgetId);
    await putLater(ruleKey, budgetId, { ruleId: 'later', config: { ...budget, season: 'winter' } });
    await lists('/alert-rules', id);
    await lists('/budgets', budgetId, 1);
    expect((await call('GET', '/raises')).status).toBe(200);
    expect((await call('GET', '/own-limits')).status).toBe(200);
  });

  it('has the gateway look for blocks of a budget that cannot be read', async () => {
    const { id } = (await call('POST', '/budgets', budget)).body;
    await putLater(ruleKey, id, { ruleId: 'later', config: { season: 'winter' } });
    expect((await call('DELETE', `/budgets/${id}`)).status).toBe(204);
    expect(await findItem(table, accountKey(caller.accountId))).toMatchObject({ withoutBlocks: 'pass' });
  });

  it('changes what other budgets stop, and leaves what an unreadable budget stops', async () => {
    const reserved = { ...budget, block: { enforcement: 'reserved' } };
    const { id: unread } = (await call('POST', '/budgets', reserved)).body;
    const key = ruleKey(caller.accountId, unread);
    await put({ ...(await findItem(table, key)), config: { season: 'winter' } });
    const { id } = (await call('POST', '/budgets', reserved)).body;
    const ids = async () => (await openBlocks(table).read(caller.accountId)).reserved.map((each) => each.id).sort();
    expect(await ids()).toEqual([unread, id].sort());
    expect((await call('DELETE', `/budgets/${id}`)).status).toBe(204);
    expect(await ids()).toEqual([unread]);
  });

  it('changes what budgets stop next to blocks of kinds and periods that it does not know', async () => {
    const { id: first } = (await call('POST', '/budgets', budget)).body;
    const later = {
      ...{ id: 'later', name: 'l', scope: { region: 'eu' }, kind: 'throttle', until: null, amountNanoUsd: null },
      spentNanoUsd: null,
    };
    const access = {
      ...{ id: 'r', name: 'r', scope: { role: 'auditor' }, allowed: null, denied: [], maxRequestUsd: null },
      createdAt: '2026-11-20T16:00:00Z',
    };
    const json = JSON.stringify({ ...NO_BLOCKS, blocks: [later], access: [access] });
    await put({ ...blocksKey(caller.accountId), version: 1, json });
    expect((await call('DELETE', `/budgets/${first}`)).status).toBe(204);
    const { id } = (await call('POST', '/budgets', { ...budget, block: { enforcement: 'reserved' } })).body;
    expect((await call('GET', '/pauses')).body.items).toEqual([]);
    const after = await findItem(table, blocksKey(caller.accountId));
    expect(JSON.parse(String(after?.['json']))).toMatchObject({
      blocks: [later],
      access: [access],
      reserved: [{ id }],
    });
  });

  it('keeps a project that a rule which cannot be read may filter by', async () => {
    const { id } = (await call('POST', '/alert-rules', rule)).body;
    const { id: project } = (await call('POST', '/projects', { name: 'Search' })).body;
    await putLater(ruleKey, id, { ruleId: 'later', type: 'of a later version' });
    expect(await call('DELETE', `/projects/${project}`)).toMatchObject(refusedWith(409, 'CONFLICT', 'later version'));
  });

  it('leaves the alerts that can be read, and counts the others', async () => {
    const alertId = uuidv7();
    const { accountId } = caller;
    expect(await openAlerts(table).notify({ ...sampleAlert, alertId, accountId, ruleId: null }, alertId)).toBe(true);
    await putLater(alertKey, alertId, { alertId: 'later', type: 'of a later version' });
    await lists('/alerts', alertId, 1);
  });

  it.each([
    ['/alert-rules', rule],
    ['/budgets', budget],
    ['/reports', report],
  ])('says of one of %s why it can neither be read nor changed', async (path, body) => {
    const made = await call('POST', path, body);
    expect(made.status).toBe(201);
    const { id } = made.body;
    const key = (path === '/reports' ? reportKey : ruleKey)(caller.accountId, id);
    await put({ ...(await findItem(table, key)), config: { season: 'winter' }, schedule: { every: 'season' } });
    const refused = { status: 500, body: { error: { message: expect.stringContaining('later version') } } };
    expect(await call('GET', `${path}/${id}`)).toMatchObject(refused);
    expect(await call('PATCH', `${path}/${id}`, { name: 'q' })).toMatchObject(refused);
  });

  it('leaves the reports and views that can be read', async () => {
    const { id } = (await call('POST', '/reports', report)).body;
    await putLater(reportKey, id, { reportId: 'later', schedule: { every: 'quarterly', hour: 8 } });
    await lists('/reports', id, 1);
    const { id: viewId } = (await call('POST', '/views', { name: 'v', page: 'overview', search: '' })).body;
    await putLater(savedViewKey, viewId, { viewId: 'later', page: 'forecast' });
    await lists('/views', viewId);
  });

  it('leaves the destinations that can be read, and counts the others', async () => {
    const destination = { name: 'd', type: 'manifests', url: 'https://example.com/' };
    const { id } = (await call('POST', '/destinations', destination)).body;
    await putLater(destinationKey, id, { destinationId: 'later', type: 'warehouse' });
    await lists('/destinations', id, 1);
    for (let n = 2; n < 5; n++) expect((await call('POST', '/destinations', destination)).status).toBe(201);
    expect((await call('POST', '/destinations', destination)).body.error.code).toBe('LIMIT_REACHED');
  });

  it('leaves the tokens and invitations that can be read, and ends the unreadable', async () => {
    const identity = identityOf();
    const { id } = (await identity('POST', '/tokens', { name: 't', role: 'viewer' })).body;
    await putLater(accountApiTokenKey, id, { tokenId: 'later', role: 'auditor' });
    await lists('/tokens', id, 1, identity);
    expect((await identity('DELETE', '/tokens/later')).status).toBe(204);
    const { accountId, userId: invitedBy } = caller;
    const times = { createdAt: AT, sentAt: AT, validUntil: '2030-01-01T00:00:00Z' };
    const invitation = { invitationId: 'later', accountId, email: 'eve@example.com', role: 'auditor', tokenHash: 'h' };
    await put({ ...invitationKey(accountId, 'later'), ...invitation, invitedBy, ...times });
    expect(await identity('GET', '/invitations')).toMatchObject({ status: 200, body: { items: [] } });
  });

  it('ends the tokens of who is removed, those with a role that it does not know among them', async () => {
    const identity = identityOf();
    const userId = 'maker';
    await newMember(table, caller.accountId, userId, 'admin');
    const ofMaker = callAs(identityApi(table, { directory, sessions }), { ...caller, userId, role: 'admin' });
    const { id } = (await ofMaker('POST', '/tokens', { name: 't', role: 'viewer' })).body;
    await putLater(accountApiTokenKey, id, { tokenId: 'later', role: 'auditor' });
    const tokens = [
      { id, role: 'viewer', isRevoked: true },
      { id: 'later', name: 't', role: null, isRevoked: true },
    ];
    expect(await identity('DELETE', `/members/${userId}`)).toMatchObject({ status: 200, body: { tokens } });
    await expect(identity('GET', '/tokens')).resolves.toMatchObject({ body: { items: [] } });
    expect(await findItem(table, accountApiTokenKey(caller.accountId, 'later'))).toBeUndefined();
  });

  it('removes a member with a role that it does not know', async () => {
    const identity = identityOf();
    await newMember(table, caller.accountId, 'later', 'viewer');
    const ofMember = [userKey('later'), accountUserKey(caller.accountId, 'later')];
    for (const key of ofMember) await put({ ...(await findItem(table, key)), role: 'auditor' });
    await newKey(table, caller.accountId, { ownerUserId: 'later' });
    expect(await identity('DELETE', '/members/later')).toMatchObject({ status: 200, body: { activeKeys: [{}] } });
    for (const key of ofMember) expect(await findItem(table, key)).toBeUndefined();
  });

  it('leaves the archives and connected bills that can be read, and counts the others', async () => {
    const { accountId } = caller;
    const opened = filesOf(table, () => new Date());
    const files = callAs(
      serve([
        ...routes(archives, manageArchives(opened)),
        route(listBillConnections, manageBills(opened).listBillConnections),
      ]),
      caller,
    );
    const { id } = (await files('POST', '/account/archives')).body;
    await putLater(archiveKey, id, { archiveId: 'later', status: 'paused' });
    await lists('/account/archives', id, 1, files);
    for (const provider of ['openai', 'perplexity'])
      await put({
        ...billConnectionKey(accountId, provider),
        accountId,
        provider,
        connectedAt: AT,
        connectedBy: 'ada',
      });
    const { status, body } = await files('GET', '/bill-connections');
    expect({ status, body }).toMatchObject({ status: 200, body: { items: [{ provider: 'openai' }], unreadable: 1 } });
  });

  it('leaves the savings about which this one can decide', async () => {
    const decision = { kind: 'idle_key', scope: { key: 'k' }, decision: 'dismissed', reason: 'kept for a fallback' };
    const { id } = (await call('PUT', '/savings/decisions', decision)).body;
    await putLater(savingKey, id, { findingId: 'later', kind: 'of a later version' });
    expect(await call('GET', '/savings')).toMatchObject({ status: 200, body: { decided: [{ id }] } });
  });

  it('leaves members and keys next to a member with a role that it does not know', async () => {
    const { accountId, userId, keyId } = caller;
    const role = 'auditor';
    await put({
      ...(await findItem(table, accountUserKey(accountId, userId))),
      ...accountUserKey(accountId, 'x'),
      role,
    });
    const key = await findItem(table, accountServiceKeyKey(accountId, keyId));
    await put({ ...key, ownerRole: role });
    const ofMember = { name: 'b', amount: 10, period: 'monthly', filter: { member: userId } };
    expect((await call('POST', '/budgets', ofMember)).status).toBe(201);
    await lists('/keys', keyId);
    expect((await call('PATCH', `/keys/${keyId}`, { name: 'renamed' })).status).toBe(200);
    expect(await findItem(table, accountServiceKeyKey(accountId, keyId))).toMatchObject({ ownerRole: role });
  });

  it('leaves the prices that can be read, and keeps the others', async () => {
    const price = { name: 'p', from: '2026-11-01', terms: { kind: 'discount', percent: 5 } };
    const { id } = (await call('POST', '/prices', price)).body;
    const item = await findItem(table, ownPricesKey(caller.accountId));
    const own = JSON.parse(String(item?.['json']));
    const later = { ...own.prices[0], priceId: 'later', terms: { kind: 'rebate', percent: 5 } };
    const other = { ...own.prices[0], priceId: 'other', region: 'eu' };
    await put({ ...item, json: JSON.stringify({ ...own, prices: [later, ...own.prices, other] }) });
    await lists('/prices', id, 2);
    expect((await call('PATCH', `/prices/${id}`, { name: 'q' })).status).toBe(200);
    await lists('/prices', id, 2);
    const after = await findItem(table, ownPricesKey(caller.accountId));
    expect(JSON.parse(String(after?.['json'])).prices).toEqual([expect.objectContaining({ name: 'q' }), later, other]);
  });
});
