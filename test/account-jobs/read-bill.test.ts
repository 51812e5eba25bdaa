import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { filesOf } from '../../fixtures/open-dashboard.ts';
import { failBill, readBill } from '../../lambda/account-jobs/read-bill.ts';
import { manageBills } from '../../lambda/dashboard/reconciliation/bills.ts';
import * as operations from '../../lambda/dashboard/reconciliation/operations.ts';
import { dueJobs, jobItem } from '../../lambda/data/accounts/account-jobs.ts';
import { openBillConnections } from '../../lambda/data/reconciliation/bill-connections.ts';
import { openBills } from '../../lambda/data/reconciliation/bills.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { billConnectionKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { addDays } from '../../lambda/domain/calendar/utc.ts';
import { route } from '../../lambda/http/operation.ts';
import { openBillSource } from '../../lambda/integrations/bills/bill-sources.ts';
import { newAccount } from '../data/new-account.ts';
import { invalidAt, invoke, serve } from '../http/invoke.ts';
import { CREDENTIAL, type MockBills, startMockBills } from '../integrations/bills/mock-bills.ts';

const NOW = Date.parse('2026-11-20T10:00:00.000Z');
const year = { from: '2026-01-01', to: '2026-12-31' };

let table: Awaited<ReturnType<typeof emulatedTable>>;
let mock: MockBills;
let handler: unknown;
let caller: Awaited<ReturnType<typeof newAccount>>;
let secrets: Map<string, string>;
let nowMs: number;

/** Happens once, before a credential is saved, or after one was read. */
let meanwhile: (() => Promise<unknown>) | undefined;
const happens = async () => {
  const once = meanwhile;
  meanwhile = undefined;
  await once?.();
};
let isTableDown: boolean;

const connections = () => openBillConnections(table);
const credentials = {
  save: async (accountId: string, provider: string, credential: string) => {
    await happens();
    secrets.set(`${accountId}/${provider}`, credential);
  },
  read: async (accountId: string, provider: string) => {
    const credential = secrets.get(`${accountId}/${provider}`);
    await happens();
    return credential;
  },
  remove: async (accountId: string, provider: string) => void secrets.delete(`${accountId}/${provider}`),
};
const sourceOf = (provider: string) => openBillSource(provider as 'openai', new Map([[provider, mock.origin]]));

beforeAll(async () => {
  [table, mock] = await Promise.all([emulatedTable(), startMockBills()]);
  const over = interceptTable(table, ({ operation }, send) => {
    if (operation === 'TransactWriteItems' && isTableDown) throw new Error('the table is down');
    return send();
  });
  const dependencies = { ...filesOf(over, () => new Date(nowMs)), credentials, sourceOf };
  const { listBillConnections, connectBill, disconnectBill } = manageBills(dependencies);
  handler = serve([
    route(operations.listBillConnections, listBillConnections),
    route(operations.connectBill, connectBill),
    route(operations.disconnectBill, disconnectBill),
  ]);
});
afterAll(() => Promise.all([table.stop(), mock.stop()]));
beforeEach(async () => {
  caller = await newAccount(table, 'PRO');
  secrets = new Map();
  isTableDown = false;
  nowMs = NOW;
  mock.failures = [];
  mock.body = null;
  mock.days = ['2026-09-01', '2026-11-01', '2026-11-19'].map((day) => billed(day, 1));
});

const billed = (day: string, usd: number) => ({
  day,
  model: 'gpt-4o',
  usd,
  input: 10,
  cached: 0,
  output: 5,
  requests: 1,
});
const connect = (credential = CREDENTIAL, provider = 'openai') =>
  invoke(handler, { method: 'PUT', path: `/api/bill-connections/${provider}`, body: { credential }, caller });
const disconnect = () => invoke(handler, { method: 'DELETE', path: '/api/bill-connections/openai', caller });
const list = async () => (await invoke(handler, { method: 'GET', path: '/api/bill-connections', caller })).body.items;
const run = (provider = 'openai', isLate = () => false) =>
  readBill({ bills: openBills(table), connections: connections(), credentials, sourceOf, now: () => new Date(nowMs) })(
    caller.accountId,
    provider,
    isLate,
  );
const amounts = async (provider = 'openai') =>
  (await openBills(table).read(caller.accountId, provider, year)).lines.map(({ day, amountNanoUsd }) => [
    day,
    amountNanoUsd / 1e9,
  ]);
/** When the bill of this account is due, ISO 8601; undefined if never. */
const isDueAt = async (at: number) => {
  for await (const job of dueJobs(table, new Date(at))) if (job.accountId === caller.accountId) return true;
  return false;
};

describe('a connected bill', () => {
  it('is read without a gap between the days that the provider is asked for at once', async () => {
    const days = Array.from({ length: 92 }, (_, index) => addDays('2026-08-20', index));
    mock.days = days.map((day) => billed(day, 1));
    await connect();
    await run();
    expect((await amounts()).map(([day]) => day)).toEqual(days);
  });

  it('is tried, kept secret, due in a minute, and read with its pages', async () => {
    const { status, body } = await connect();
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(CREDENTIAL);
    expect([...secrets.values()]).toEqual([CREDENTIAL]);
    expect(await isDueAt(NOW + MINUTE_MS)).toBe(true);
    await run();
    expect(await amounts()).toEqual([
      ['2026-09-01', 1],
      ['2026-11-01', 1],
      ['2026-11-19', 1],
    ]);
    expect(await list()).toEqual([
      expect.objectContaining({ provider: 'openai', readAt: new Date(NOW).toISOString(), problem: null }),
    ]);
    expect(JSON.stringify(await list())).not.toContain(CREDENTIAL);
    expect([await isDueAt(NOW + 6 * HOUR_MS - 1), await isDueAt(NOW + 6 * HOUR_MS)]).toEqual([false, true]);
  });

  it.each(['openai', 'anthropic'])('of %s can be stored, however many projects share a day', async (provider) => {
    mock.days = [{ ...billed('2026-11-19', 1), scopes: 8_000 }];
    await connect(CREDENTIAL, provider);
    await run(provider);
    expect(await amounts(provider)).toEqual([['2026-11-19', 1]]);
  });

  it('is read again where days come late or are corrected, and only there', async () => {
    await connect();
    await run();
    nowMs += 6 * HOUR_MS;
    mock.days = [billed('2026-11-01', 9), billed('2026-11-19', 2), billed('2026-11-20', 3)];
    mock.requests.length = 0;
    await run();
    expect(await amounts()).toEqual([
      ['2026-09-01', 1],
      ['2026-11-01', 1],
      ['2026-11-19', 2],
      ['2026-11-20', 3],
    ]);
  });

  it('that takes long is read in several turns, each from where the last one ended', async () => {
    await connect();
    for (const read of ['2026-09-19', '2026-10-12', '2026-11-04']) {
      await run('openai', () => true);
      expect(await list()).toEqual([expect.objectContaining({ readAt: `${read}T00:00:00.000Z`, problem: null })]);
      expect(await isDueAt(NOW)).toBe(true);
    }
    await run('openai', () => true);
    expect(await list()).toEqual([expect.objectContaining({ readAt: new Date(NOW).toISOString() })]);
    expect(await amounts()).toEqual(mock.days.map(({ day, usd }) => [day, usd]));
  });

  it('says why it cannot be read, and goes on by itself', async () => {
    await connect();
    mock.failures = [500, 500, 500, 500];
    await run();
    expect(await list()).toEqual([
      expect.objectContaining({ problem: 'The provider responded with 500.', readAt: null }),
    ]);
    nowMs += HOUR_MS;
    expect(await isDueAt(nowMs)).toBe(true);
    await run();
    expect(await list()).toEqual([expect.objectContaining({ problem: null, readAt: new Date(nowMs).toISOString() })]);
  });

  it('asks for another credential where it is refused or gone', async () => {
    await connect();
    for (const key of secrets.keys()) secrets.set(key, 'sk-revoked');
    await run();
    expect(await list()).toEqual([expect.objectContaining({ problem: expect.stringContaining('refused') })]);
    expect(await isDueAt(NOW + 23 * HOUR_MS)).toBe(false);
    secrets.clear();
    await run();
    expect(await list()).toEqual([expect.objectContaining({ problem: expect.stringContaining('connect') })]);
  });

  it('is put off after a fault of ours', async () => {
    await connect();
    const failures = await failBill({ connections: connections() })(
      caller.accountId,
      'openai',
      (count) => new Date(NOW + count * HOUR_MS),
    );
    expect(failures).toBe(1);
    expect([await isDueAt(NOW + HOUR_MS - 1), await isDueAt(NOW + HOUR_MS)]).toEqual([false, true]);
  });

  it('that only a later version can read has its next turn hours later', async () => {
    const [{ accountId }, connectedAt] = [caller, new Date(NOW).toISOString()];
    const connection = { accountId, provider: 'later', connectedAt, connectedBy: 'ada' };
    await write(table, put(jobItem('bill', billConnectionKey(accountId, 'later'), connection, connectedAt)));
    await run('later');
    expect([await isDueAt(NOW + 5 * HOUR_MS), await isDueAt(NOW + 6 * HOUR_MS)]).toEqual([false, true]);
  });

  it('that is connected anew is not put off by a read with the credential before', async () => {
    await connect();
    for (const key of secrets.keys()) secrets.set(key, 'sk-revoked');
    nowMs += HOUR_MS;
    meanwhile = connect;
    await run();
    expect(await list()).toEqual([expect.objectContaining({ problem: null })]);
    expect(await isDueAt(nowMs + MINUTE_MS)).toBe(true);
  });

  it('ends with its credential', async () => {
    await connect();
    expect(await disconnect()).toMatchObject({ status: 204 });
    expect(secrets.size).toBe(0);
    expect(await list()).toEqual([]);
    expect(await isDueAt(NOW)).toBe(false);
    await run();
    expect(await amounts()).toEqual([]);
  });
});

describe('a credential', () => {
  it('that the provider refuses is not kept', async () => {
    expect(await connect('sk-wrong-one')).toMatchObject(invalidAt('credential', 'admin key'));
    expect(secrets.size).toBe(0);
    expect(await list()).toEqual([]);
  });

  it('is not kept without its connection, and replaces none', async () => {
    isTableDown = true;
    expect((await connect()).status).toBe(500);
    expect(secrets.size).toBe(0);
    secrets.set(`${caller.accountId}/openai`, 'sk-good');
    expect((await connect()).status).toBe(500);
    expect([...secrets.values()]).toEqual(['sk-good']);
  });

  it('is not kept where the bill is disconnected at the same moment', async () => {
    meanwhile = disconnect;
    expect((await connect()).status).toBe(409);
    expect([secrets.size, await list()]).toEqual([0, []]);
  });

  it.each(['', 'short', 'with space in it', `x${'\n'}yyyyyyyyy`, 'ü'.repeat(20), 'x'.repeat(501)])(
    '%j is refused',
    async (credential) => {
      expect(await connect(credential)).toMatchObject({ status: 400 });
    },
  );

  it('is only for providers whose bill can be read', async () => {
    expect(await connect(CREDENTIAL, 'mistral')).toMatchObject({ status: 400 });
  });
});
