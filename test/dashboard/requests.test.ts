import { afterEach, describe, expect, it, jest } from '@jest/globals';
import * as operations from '../../lambda/dashboard/requests/operations.ts';
import { readRequests } from '../../lambda/dashboard/requests/read-requests.ts';
import type { FindDisplayCurrency } from '../../lambda/data/accounts/own-prices.ts';
import { newServiceKey, type ServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import type { openRequests } from '../../lambda/data/requests/requests.ts';
import { requestColumns } from '../../lambda/domain/exports/datasets.ts';
import { type RequestRecord, requestRecordSchema } from '../../lambda/domain/spend/request-record.ts';
import { routes } from '../../lambda/http/operation.ts';
import { invalidAt, invoke, refusedWith, serve } from '../http/invoke.ts';
import { closeEvent } from '../usage-recorder/events.ts';

type Requests = ReturnType<typeof openRequests>;
const find = jest.fn<Requests['find']>();
const page = jest.fn<Requests['page']>();
const highest = jest.fn<Requests['highest']>();
const findCurrency = jest.fn<FindDisplayCurrency>();
const list = jest.fn<ServiceKeys['list']>();
const dependencies = {
  ...{ requests: { find, page, highest }, findCurrency, keys: { list } },
  now: () => new Date('2026-11-20T16:30:00Z'),
} as unknown as Parameters<typeof readRequests>[0];
const handler = serve(routes(operations, readRequests(dependencies)));
const caller = { accountId: 'account-1', userId: 'user' };
const get = (path: string, query: Record<string, string[]> = {}) =>
  invoke(handler, { method: 'GET', path: `/api${path}`, query, caller });

const startedAt = '2026-11-20T16:00:00.000Z';
const record: RequestRecord = requestRecordSchema.parse({
  ...closeEvent({ accountId: 'account-1', startedAt, providerKey: null, reading: { usage: { prompt_tokens: 3 } } }),
  requestId: '019aa1b2-0000-7000-8000-000000000001',
  revision: 1,
  usage: { inputTokens: 3 },
  costNanoUsd: 7_500,
  provenance: 'computed',
  recordedAt: '2026-11-20T16:00:01.000Z',
  expiresAt: 1_800_000_000,
});

afterEach(() => {
  jest.resetAllMocks();
});

describe('GET /requests', () => {
  it('shows costs in the display currency next to US dollars, where a rate of the day is known', async () => {
    page.mockResolvedValue({ items: [record], nextCursor: null, unreadableRequests: 0 });
    find.mockResolvedValue(record);
    const rates = (from: string) => ({ code: 'EUR', rates: [{ from, perUsd: '0.93' }] });
    findCurrency.mockResolvedValueOnce(rates('2026-11-20')).mockResolvedValueOnce(rates('2026-11-21'));
    const euros = { costUsd: '0.0000075', displayCost: '0.000006975', displayCurrency: 'EUR' };
    expect((await get('/requests')).body.items).toEqual([expect.objectContaining(euros)]);
    const { body } = await get(`/requests/${record.requestId}`);
    expect(body).toMatchObject({ ...euros, displayCost: null });
    expect((await get('/requests')).body.items[0]).not.toHaveProperty('displayCost');
  });

  it("reads a page of the caller's account; an empty filter selects requests without a value", async () => {
    page.mockResolvedValue({ items: [record], unreadableRequests: 2, nextCursor: 'next' });
    const { status, body } = await get('/requests', { tag: [''], key: ['key-1'], status: ['200'], cursor: ['c'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ nextCursor: 'next', unreadableRequests: 2 });
    expect(body.items).toEqual([
      expect.objectContaining({
        requestId: record.requestId,
        model: 'gpt-4o-2024-08-06',
        key: 'key-1',
        inputTokens: 3,
        costNanoUsd: 7_500,
        costUsd: '0.0000075',
        provenance: 'computed',
      }),
    ]);
    expect(page).toHaveBeenCalledWith('account-1', {
      from: '2026-10-21T16:30:00.000Z',
      to: '2026-11-20T16:30:00.000Z',
      limit: 50,
      cursor: 'c',
      filter: { status: 200, tag: null, keyId: 'key-1', model: undefined, providerKey: undefined },
    });
  });

  it('filters by client, session, agent and metadata', async () => {
    page.mockResolvedValue({ items: [], unreadableRequests: 0, nextCursor: null });
    const query = { client: ['codex'], session: ['s1'], agent: [''], metadata: ['team:search', 'env:'] };
    expect((await get('/requests', query)).status).toBe(200);
    expect(page).toHaveBeenCalledWith(
      'account-1',
      expect.objectContaining({
        filter: expect.objectContaining({ client: 'codex', session: 's1', agent: null, metadata: query.metadata }),
      }),
    );
    expect(await get('/requests', { metadata: ['search'] })).toMatchObject(
      invalidAt('metadata.0', 'must be name:value'),
    );
  });

  it('filters by the member and project of keys, among those that the caller sees', async () => {
    page.mockResolvedValue({ items: [], unreadableRequests: 0, nextCursor: null });
    const key = (keyId: string, ownerUserId: string | undefined, projectId: string) =>
      newServiceKey(
        { keyId, name: keyId, createdAt: '2026-11-01T00:00:00.000Z', ...(ownerUserId && { ownerUserId }), projectId },
        `svc_${keyId}`,
      );
    list.mockResolvedValue([
      key('a', 'ada', 'search'),
      key('b', 'ada', 'default'),
      key('c', 'bob', 'search'),
      key('d', undefined, 'search'),
    ]);
    const keyIds = () => page.mock.lastCall?.[1].filter?.keyIds;
    await get('/requests', { member: ['ada'], project: ['search'] });
    expect(keyIds()).toEqual(new Set(['a']));
    await get('/requests', { member: [''] });
    expect([...(keyIds() ?? [])]).toEqual(['d']);
    await get('/requests', { member: ['nobody'] });
    expect(keyIds()).toEqual(new Set());
    const part = { ...caller, userId: 'bob', role: 'developer', keyIds: new Set(['c']) } as const;
    await invoke(handler, { method: 'GET', path: '/api/requests', query: { project: ['search'] }, caller: part });
    expect(keyIds()).toEqual(new Set(['c']));
  });
});

describe('GET /requests in another order', () => {
  it('has one page of the highest, and says how far back it looked', async () => {
    const examinedFrom = '2026-11-19T00:00:00.000Z';
    highest.mockResolvedValue({ items: [record], unreadableRequests: 0, examinedFrom });
    const { body } = await get('/requests', { orderBy: ['cost'], contains: ['gpt'], limit: ['5'] });
    expect(body).toMatchObject({ items: [{ costNanoUsd: 7_500 }], nextCursor: null, examinedFrom });
    const [, query] = highest.mock.lastCall as Parameters<Requests['highest']>;
    expect(query).toMatchObject({ limit: 5, filter: { contains: 'gpt' } });
    expect(query.measure(record)).toBe(7_500);
    await get('/requests', { orderBy: ['tokens'] });
    expect(highest.mock.lastCall?.[1].measure(record)).toBe(3);
    expect((await get('/requests', { orderBy: ['cost'], cursor: ['c'] })).status).toBe(400);
  });
});

describe('GET /requests over ages', () => {
  it('reads only days within the retention', async () => {
    page.mockResolvedValue({ items: [], unreadableRequests: 0, nextCursor: null });
    await get('/requests', { from: ['2000-01-01'], to: ['9998-12-30'] });
    expect(page).toHaveBeenCalledWith(
      'account-1',
      expect.objectContaining({ from: '2025-10-01T16:30:00.000Z', to: '2026-11-21T16:30:00.000Z' }),
    );
  });
});

describe('a refused request', () => {
  it('says which budget or pause refused it, in the list and alone', async () => {
    const refused: RequestRecord = { ...record, outcome: 'refused', status: null, blockedBy: 'budget-1' };
    page.mockResolvedValue({ items: [refused, record], nextCursor: null, unreadableRequests: 0 });
    find.mockResolvedValue(refused);
    expect((await get('/requests')).body.items).toEqual([
      expect.objectContaining({ outcome: 'refused', blockedBy: 'budget-1' }),
      expect.objectContaining({ outcome: 'completed', blockedBy: null }),
    ]);
    expect((await get(`/requests/${record.requestId}`)).body).toMatchObject({ blockedBy: 'budget-1' });
  });
});

describe('GET /requests/{requestId}', () => {
  it('shows the members that exports have as columns, but for those named here', async () => {
    const { requestId, session } = { requestId: record.requestId, session: { id: 's1', agentId: 'a1' } };
    find.mockResolvedValue({ ...record, session });
    const { body } = await get(`/requests/${requestId}`);
    const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const columns = requestColumns.map(({ name }) => camelCase(name));
    const members = Object.keys(body);
    // The members of `usage` and `session`.
    const ofOthers = ['agent', 'parentAgent', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'];
    expect(columns.filter((name) => !members.includes(name))).toEqual(ofOthers);
    // Costs in nano-USD are exported in USD.
    const otherForm = ['costNanoUsd', 'listCostNanoUsd'];
    const notExported = ['tagTruncated', 'metadataTruncated', 'priceEvidence', 'estimateRange', 'ownPrices'];
    expect(members.filter((name) => !columns.includes(name))).toEqual([
      'isConfirmedLate',
      ...otherForm,
      ...notExported,
    ]);
  });

  it('shows every member of the record except the account id', async () => {
    find.mockResolvedValue(record);
    const { status, body, text } = await get(`/requests/${record.requestId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ modelRequested: 'gpt-4o', rawUsage: { prompt_tokens: 3 }, usageSource: 'reported' });
    expect(body).toMatchObject({ client: null, session: null, metadata: {}, metadataTruncated: false });
    const belongs = { client: 'codex', session: { id: 's1', agentId: 'a1' }, metadata: { team: 'search' } };
    find.mockResolvedValue({ ...record, ...belongs, metadataTruncated: true });
    expect((await get(`/requests/${record.requestId}`)).body).toMatchObject({ ...belongs, metadataTruncated: true });
    expect(text).not.toContain('account-1');
    expect(find).toHaveBeenCalledWith('account-1', record.requestId);
  });

  it('shows an unknown cost as unknown', async () => {
    find.mockResolvedValue({ ...record, costNanoUsd: null, provenance: 'unknown', reading: null, usage: null });
    expect((await get(`/requests/${record.requestId}`)).body).toMatchObject({
      costNanoUsd: null,
      costUsd: null,
      provenance: 'unknown',
      inputTokens: null,
    });
  });

  it('responds with 404 to an unknown id', async () => {
    find.mockResolvedValue(undefined);
    expect(await get('/requests/x')).toMatchObject(refusedWith(404, 'NOT_FOUND'));
  });
});
