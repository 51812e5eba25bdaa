import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openDeclaredDimensions } from '../../lambda/data/accounts/declared-dimensions.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DEFAULT_PROJECT_ID } from '../../lambda/domain/accounts/scope.ts';
import { addDays, dayOf } from '../../lambda/domain/calendar/utc.ts';
import { declare } from '../../lambda/domain/spend/declared-dimensions.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { mcpVersions } from '../../lambda/http/mcp-http.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { clearOfMidnight } from '../clear-of-midnight.ts';
import { newAccount } from '../data/new-account.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { invoke, silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens, requestIdAt } from '../usage-recorder/events.ts';
import { callTool, openAgents } from './open-agents.ts';

const table = tableForTests();
let handler: Awaited<ReturnType<typeof openAgents>>['handler'];
let account: Awaited<ReturnType<typeof newAccount>>;
let client: Client;

/** Days before today, oldest first: 2 to 6 days ago. */
const day = (ago: number) => addDays(dayOf(new Date().toISOString()), -ago);
const at = (ago: number, time: string) => `${day(ago)}T${time}:00.000Z`;
const KEY_B = 'key-b';

const claudeCode = { provider: 'anthropic', model: 'claude', tag: 'agents', keyId: KEY_B, client: 'claude-code' };
/** Each token costs 7 nano-USD. Their sum is 1.023222494 USD, and one request has no known cost. */
const traffic = () =>
  [
    { startedAt: at(6, '08:00'), tag: 'search', tokens: 1_000 },
    { startedAt: at(6, '09:00'), tag: 'search', keyId: KEY_B, tokens: 2_000 },
    { startedAt: at(5, '10:00'), provider: 'anthropic', model: 'claude', tokens: 10_000 },
    { startedAt: at(5, '11:00'), model: 'gpt-4o-mini', tag: 'batch', tokens: 500 },
    { startedAt: at(4, '10:00'), ...claudeCode, tokens: 100_000, session: { id: 's1' } },
    { startedAt: at(4, '10:30'), ...claudeCode, tokens: 200_000, session: { id: 's1', agentId: 'a1' } },
    { startedAt: at(4, '12:00'), provider: 'mistral', model: 'no-price', tokens: undefined },
    { startedAt: at(3, '09:00'), provider: 'google', model: 'gemini', tokens: 4_000, usageSource: 'estimated' },
    { startedAt: at(3, '09:30'), tag: 'search', tokens: 0, status: 429 },
    { startedAt: at(2, '10:00'), tag: 'search', tokens: 3_000_000, usageSource: 'reported' },
    { startedAt: at(2, '23:59'), provider: 'xai', model: 'grok', keyId: KEY_B, tokens: 142_857_142 },
  ].map(({ tokens, model = 'gpt-4o', usageSource, ...facts }, n) =>
    closeEvent({
      accountId: account.accountId,
      keyId: account.keyId,
      n,
      ...(facts as object),
      reading: {
        usage: tokens === undefined ? null : { tokens },
        usageSource: (usageSource ?? (tokens === undefined ? 'none' : 'reported')) as 'reported',
        modelRequested: model,
        modelServed: model,
      },
    }),
  );
const requestId = (n: number) => requestIdAt(traffic()[n]?.startedAt ?? '', n);

const price = ({ reading }: Pick<CloseEvent, 'reading'>) => {
  const priced = priceOfTokens({ reading });
  return reading.usageSource === 'estimated' ? { ...priced, provenance: 'estimated' as const } : priced;
};

let agents: Awaited<ReturnType<typeof openAgents>>;
const newToken = (role: Role, accountId = account.accountId, projects?: readonly string[]) =>
  agents.newToken({ ...account, accountId }, role, projects);
const connect = (token: string) => agents.connect(token);

const post = (token: string, body: unknown, headers: Record<string, string> = {}) =>
  invoke(handler, {
    method: 'POST',
    path: '/api/mcp',
    body,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

const call = (name: string, args: object = {}, by = client) => callTool(by, name, args);

// biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
const ask = async (name: string, args: object = {}): Promise<any> => {
  const { text, isError } = await call(name, args);
  if (isError) throw new Error(text);
  return JSON.parse(text);
};

await clearOfMidnight();

beforeAll(async () => {
  agents = await openAgents(table);
  handler = agents.handler;
  account = await newAccount(table);
  const results = await openRecorder(table, { logger: silentLogger(), price })(traffic());
  expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
  const settings = (await import('../../lambda/dashboard/functions/settings.ts')).handler;
  const period = { from: day(6), to: day(-6) };
  for (const body of [
    { name: 'All', amount: 2, period },
    { name: 'Search', amount: 0.02, period, filter: { tag: 'search' }, block: {} },
  ])
    expect(await invoke(settings, { method: 'POST', path: '/api/budgets', caller: account, body })).toMatchObject({
      status: 201,
    });
  await openAlerts(table).notify(
    {
      ...sampleAlert,
      accountId: account.accountId,
      ruleId: null,
      triggeredAt: at(2, '23:59'),
      period: { name: 'daily', start: at(2, '00:00'), end: at(1, '00:00') },
      figure: 1_020_999_994,
      limit: 1_000_000_000,
      unpricedRequests: 0,
      contributors: [{ dimension: 'model', value: 'grok', label: null, share: 0.98 }],
    },
    'alert-1',
  );
  client = await connect(await newToken('viewer'));
});
afterAll(() => client?.close());

type Named = Readonly<Record<string, unknown>>;
/** The group with these names. */
const groupIn = (names: Named) => (report: { groups: Named[] }) =>
  report.groups.find((group) => Object.entries(names).every(([name, value]) => group[name] === value)) as Named;
const whole = () => ({ from: day(6), to: day(2) });
const oneDay = (ago: number) => ({ from: day(ago), to: day(ago) });

// biome-ignore lint/suspicious/noExplicitAny: results differ by tool.
type Read = (result: any) => unknown;

/** Questions, the tool that they are asked with, and the one right response, added up by hand from `traffic`. mcp-questions.test.ts asks at random. */
// biome-ignore format: one question a line.
const questions: [string, string, () => object, Read, unknown][] = [
  ['What did we spend in these five days?', 'spend', whole, (r) => r.totals.costUsd, '1.023222494'],
  ['What did the third day cost from ten to eleven?', 'spend', () => ({ from: at(4, '10:00'), to: at(4, '11:00') }), (r) => r.totals.costUsd, '0.0021'],
  ['Which hours are these?', 'spend', () => ({ from: at(4, '10:00'), to: at(4, '12:00') }), (r) => r.granularity, 'hour'],
  ['What did it cost from that noon to the next morning, by day?', 'spend', () => ({ from: at(4, '12:00'), to: at(3, '09:00'), granularity: 'day' }), (r) => r.series.map((p: Named) => p['requests']), [1, 0]],
  ['And from the second morning to the last evening, by month?', 'spend', () => ({ from: at(5, '11:00'), to: at(2, '23:00'), granularity: 'month' }), (r) => r.totals.costUsd, '0.0231315'],
  ['What did Mistral cost?', 'spend', () => ({ ...whole(), provider: ['mistral'] }), (r) => r.totals.costUsd, 'unknown'],
  ['What did requests without a tag cost?', 'spend', () => ({ ...whole(), tag: [''] }), (r) => r.totals.costUsd, '1.000097994'],
  ['Which model cost most?', 'spend', () => ({ ...whole(), groupBy: ['model'] }), (r) => r.groups[0].model, 'grok'],
  ['What did the model without a price cost?', 'spend', () => ({ ...whole(), groupBy: ['model'] }), (r) => groupIn({ model: 'no-price' })(r)['costUsd'], 'unknown'],
  ['On which day was most spent?', 'spend', () => ({ ...whole(), granularity: 'day' }), (r) => r.series[4].costUsd, '1.020999994'],
  ['What did the unknown hour cost?', 'spend', () => ({ ...oneDay(4), granularity: 'hour' }), (r) => r.series[12].costUsd, 'unknown'],
  ['By how much did the fifth day grow?', 'spend_change', () => oneDay(2), (r) => r.totals.costChangeUsd, '1.020971994'],
  ['Which model made it grow?', 'spend_change', () => oneDay(2), (r) => r.groups[0].model, 'grok'],
  ['How did the third day compare with the first, by key?', 'spend_change', () => ({ ...oneDay(4), compareFrom: day(6), compareTo: day(6), groupBy: ['key'] }), (r) => groupIn({ key: KEY_B })(r)['costChangeUsd'], '0.002086'],
  ['Can it be known for a model without a price?', 'spend_change', () => oneDay(4), (r) => groupIn({ model: 'no-price' })(r)['costChangeUsd'], 'unknown'],
  ['At what price?', 'request', () => ({ requestId: requestId(2) }), (r) => r.lines[0].rateUsdPerUnit, '0.000000007'],
  ['What did the unpriced request cost?', 'request', () => ({ requestId: requestId(6) }), (r) => r.costUsd, 'unknown'],
  ['Why is that not known?', 'request', () => ({ requestId: requestId(6) }), (r) => r.reason, 'No usage.'],
  ['Which request was the last?', 'requests', whole, (r) => r.items[0].requestId, () => requestId(10)],
  ['What did the session cost?', 'session', () => ({ sessionId: 's1', ...whole() }), (r) => r.costUsd, '0.0021'],
  ['What is left of the budget for all?', 'budgets', () => ({}), (r) => r.items.find((b: Named) => b['name'] === 'All').state.remainingUsd, '0.976777506'],
  ['Does it stop requests?', 'budgets', () => ({}), (r) => r.items.find((b: Named) => b['name'] === 'Search').state.isBlocking, true],
  ['Which alerts are open?', 'alerts', () => ({ status: 'triggered' }), (r) => r.items[0].figure, '1.020999994'],
  ['In what unit?', 'alerts', () => ({}), (r) => [r.items[0].unit, r.items[0].limit], ['usd', '1']],
  ['What will the month come to?', 'forecast', () => ({}), (r) => r.forecastCostUsd, 'unknown'],
  ['Which alert rules are there?', 'alert_rules', () => ({}), (r) => r.items, []],
  ['What is paused?', 'pauses', () => ({}), (r) => r.items, []],
  ['What did OpenAI bill?', 'reconciliation', () => ({ provider: 'openai', ...whole() }), (r) => [r.billedUsd, r.recordedUsd], ['unknown', '0.0210245']],
  ['What did claude and grok cost?', 'spend', () => ({ ...whole(), groupBy: 'model', model: ['claude', 'grok'], provider: null }), (r) => r.totals.costUsd, '1.002169994'],
  ['How long did Anthropic take?', 'spend', () => ({ ...whole(), provider: 'anthropic', latency: true }), (r) => typeof r.totals.latency.p50Ms, 'number'],
  ['What did the tag 5 cost?', 'spend', () => ({ ...whole(), tag: 5 }), (r) => r.totals.costUsd, '0'],
  ['Which was the last but one?', 'requests', () => ({ ...whole(), limit: '2' }), (r) => r.items[1].requestId, () => requestId(9)],
  ['What drove it?', 'alerts', () => ({}), (r) => r.items[0].contributors[0].value, 'grok'],
  ['How many keys are active?', 'keys', () => ({}), (r) => r.active, 1],
];

describe('questions of agents', () => {
  it.each(questions)('%s', async (_, tool, args, read, expected) => {
    expect(read(await ask(tool, args()))).toEqual(typeof expected === 'function' ? expected() : expected);
  });

  it('get no cost as null, and no amount twice', async () => {
    for (const [, tool, args] of questions)
      expect((await call(tool, args())).text).not.toMatch(/NanoUsd|[cC]ost\w*":null/);
  });
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** The account shows euros, at half a euro for a dollar, from a day on. */
const setEuros = (accountId: string, from: string) => {
  const currency = { code: 'EUR', rates: [{ from, perUsd: '0.5' }] };
  const audit = auditEntry(accountId, {}, { action: 'currency.changed' }, new Date());
  return openOwnPrices(table).change(accountId, (own) => ({ own: { ...own, currency }, audit }));
};

describe('POST /mcp', () => {
  it('lists tools that only read, and those alone that the role permits', async () => {
    const { tools } = await client.listTools();
    const reads = 'alert_rules alerts budgets dimensions forecast keys pauses projects reconciliation request requests';
    const others = 'savings session sessions spend spend_change';
    expect(tools.map(({ name }) => name).sort()).toEqual(`${reads} ${others}`.split(' '));
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    const billing = await connect(await newToken('billing'));
    expect((await billing.listTools()).tools.map(({ name }) => name)).not.toContain('budgets');
    expect(await call('budgets', {}, billing)).toEqual({ isError: true, text: expect.stringContaining('rules:read') });
  });

  it('shows an account nothing of another', async () => {
    const other = await connect(await newToken('admin', (await newAccount(table)).accountId));
    expect(JSON.parse((await call('spend', whole(), other)).text).totals.requests).toBe(0);
    expect(await call('request', { requestId: requestId(2) }, other)).toMatchObject({ isError: true });
  });

  it('shows who sees a part of an account the savings of its keys alone', async () => {
    const { accountId, keyId } = await newAccount(table);
    const events = [keyId, KEY_B].flatMap((key, n) => ({
      ...closeEvent({ accountId, keyId: key, n, tag: key, startedAt: at(4, '10:00'), tokens: 1_000_000_000 }),
      outcome: 'client_aborted' as const,
    }));
    await openRecorder(table, { logger: silentLogger(), price })(events);
    const tagsOf = async (...as: [Role, string[]?]) => {
      const by = await connect(await newToken(as[0], accountId, as[1]));
      const { text } = await call('savings', {}, by);
      return JSON.parse(text).items.map(({ scope }: { scope: { tag: string } }) => scope.tag);
    };
    expect((await tagsOf('viewer')).sort()).toEqual([keyId, KEY_B].sort());
    expect(await tagsOf('viewer', [DEFAULT_PROJECT_ID])).toEqual([keyId]);
    expect(await tagsOf('developer')).toEqual([]);
    const billing = await connect(await newToken('billing', accountId));
    expect(await call('savings', {}, billing)).toMatchObject({ isError: true });
  });

  it('shows savings in the currency of the account', async () => {
    const { accountId, keyId } = await newAccount(table);
    await setEuros(accountId, '2026-01-01');
    const event = {
      ...closeEvent({ accountId, keyId, n: 0, startedAt: at(4, '10:00'), tokens: 1_000_000_000 }),
      outcome: 'client_aborted' as const,
    };
    await openRecorder(table, { logger: silentLogger(), price })([event]);
    const { text } = await call('savings', {}, await connect(await newToken('viewer', accountId)));
    const { items, displayCurrency } = JSON.parse(text);
    expect(displayCurrency).toBe('EUR');
    expect(Number(items[0].displayPerMonth) * 2).toBeCloseTo(Number(items[0].usdPerMonth), 6);
    expect(items[0].arithmetic).toContain('€');
    expect(text).not.toMatch(/nanoUsd/i);
  });

  it('calls a cost in a currency without a rate unknown', async () => {
    const { accountId, keyId } = await newAccount(table);
    await setEuros(accountId, day(3));
    const events = [4, 2].map((ago, n) => closeEvent({ accountId, keyId, n, startedAt: at(ago, '10:00'), tokens: 2 }));
    await openRecorder(table, { logger: silentLogger(), price })(events);
    const agent = await connect(await newToken('viewer', accountId));
    const { totals, series } = JSON.parse((await call('spend', { ...whole(), granularity: 'day' }, agent)).text);
    expect(totals.displayCost).toBe('unknown');
    const costs = series.map((point: Named) => point['displayCost']);
    expect(costs).toEqual(['0', '0', 'unknown', '0', '0.000000007']);
  });

  it('calls no name of the account a cost, such as that of a declared dimension', async () => {
    const { accountId, keyId } = await newAccount(table);
    const audit = auditEntry(accountId, {}, { action: 'dimensions.declared' }, new Date());
    const after = declare([], ['cost_center'], at(6, '00:00'));
    await openDeclaredDimensions(table).replace([], after, audit);
    const events = ([{ cost_center: 'unknown' }, {}] as Record<string, string>[]).map((metadata, n) =>
      closeEvent({ accountId, keyId, n, startedAt: at(4, '10:00'), tokens: 2, metadata }),
    );
    await openRecorder(table, { logger: silentLogger(), price })(events);
    const agent = await connect(await newToken('viewer', accountId));
    const { text } = await call('spend', { ...whole(), groupBy: 'dim:cost_center' }, agent);
    expect(JSON.parse(text).groups.map(({ dim }: Named) => dim)).toEqual(
      expect.arrayContaining([{ cost_center: 'unknown' }, { cost_center: null }]),
    );
  });

  it('says nothing of how far a budget may be passed, which it does not read', async () => {
    for (const { state } of (await ask('budgets')).items) {
      expect(state).not.toHaveProperty('bound');
      expect(state).not.toHaveProperty('enforcedFrom');
    }
  });

  it('answers for the bounds that it is given, or says which ones it can answer for', async () => {
    for (const tool of ['spend', 'spend_change'])
      expect(await call(tool, { from: at(4, '10:15'), to: at(4, '10:45') })).toEqual({
        isError: true,
        text: expect.stringContaining(
          `from must be at a whole hour (UTC), by which spend is summed: ask for ${day(4)}T10:00:00Z or ${day(4)}T11:00:00Z`,
        ),
      });
    for (const [tool, args] of [
      ['sessions', {}],
      ['session', { sessionId: 's1' }],
    ] as const)
      expect(await call(tool, { ...args, from: day(4), to: at(4, '12:00') })).toEqual({
        isError: true,
        text: expect.stringContaining(
          `to must be at a whole day (UTC), by which sessions are summed: ask for ${day(4)}T00:00:00Z or ${day(3)}T00:00:00Z`,
        ),
      });
  });

  it('fills no more than 8,000 characters of a context, and says where the rest is', async () => {
    const busy = await newAccount(table);
    const events = Array.from({ length: 40 }, (_, n) =>
      closeEvent({
        accountId: busy.accountId,
        keyId: busy.keyId,
        n,
        startedAt: at(3, `${String(n % 24).padStart(2, '0')}:00`),
        tag: `workload ${n} of a team with a long name`,
        session: { id: `session ${n}` },
        reading: { usage: { tokens: 10 + n }, usageSource: 'reported', modelRequested: `m${n}`, modelServed: `m${n}` },
      }),
    );
    const agents = Array.from({ length: 40 }, (_, n) => {
      const session = { id: 's', agentId: `agent ${n}` };
      return closeEvent({ ...busy, n: n + 40, startedAt: at(2, '10:00'), tokens: n, session });
    });
    await openRecorder(table, { logger: silentLogger(), price })([...events, ...agents]);
    const by = await connect(await newToken('viewer', busy.accountId));
    const read = async (name: string, args: object) => {
      const { text } = await call(name, args, by);
      return { characters: text.length, ...JSON.parse(text) };
    };
    const ids = new Set<string>();
    let cursor: string | null = null;
    do {
      const page = await read('requests', { ...oneDay(3), ...(cursor && { cursor }) });
      expect(page.characters).toBeLessThanOrEqual(8_000);
      for (const item of page.items as { requestId: string }[]) ids.add(item.requestId);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(ids.size).toBe(40);
    const models = await read('spend', { ...oneDay(3), groupBy: 'model' });
    expect(models.otherGroups.requests + models.groups.length).toBe(40);
    expect((await read('spend', { ...oneDay(3), groupBy: 'model', limit: 40 })).groups).toHaveLength(40);
    const hours = { ...whole(), groupBy: 'model,tag', granularity: 'hour' };
    const lists: [string, object, string, number][] = [
      ['spend', { ...oneDay(3), groupBy: 'model', limit: 3 }, 'groups', 40],
      ['spend_change', { ...oneDay(3), groupBy: ['model', 'tag'] }, 'groups', 40],
      ['spend', hours, 'series', 120],
      ['sessions', oneDay(3), 'items', 40],
      ['session', { sessionId: 's', ...oneDay(2) }, 'agents', 40],
    ];
    for (const [tool, args, list, length] of lists) {
      const rows: unknown[] = [];
      let page = await read(tool, args);
      expect([tool, page.nextCursor]).toEqual([tool, expect.any(String)]);
      for (rows.push(...page[list]); page.nextCursor !== null; rows.push(...page[list])) {
        page = await read(tool, { ...args, cursor: page.nextCursor });
        expect(page.characters).toBeLessThanOrEqual(8_000);
      }
      expect([tool, new Set(rows.map((row) => JSON.stringify(row))).size, rows.length]).toEqual([tool, length, length]);
    }
    const { text } = await call('spend', { ...oneDay(3), groupBy: 'model,tag', granularity: 'hour', limit: 1_000 }, by);
    expect(text.length).toBeLessThanOrEqual(64_000);
    await by.close();
  });

  it('says what is wrong with arguments', async () => {
    expect(await call('spend', { groupBy: ['colour'], x: 1 })).toEqual({
      isError: true,
      text: expect.stringMatching(/VALIDATION_ERROR.*groupBy.*x is unknown/s),
    });
    expect(await call('request', {})).toEqual({
      isError: true,
      text: expect.stringContaining('requestId is required'),
    });
    await expect(client.callTool({ name: 'pay' })).rejects.toThrow('There is no tool pay');
  });

  it('has errors in the form of JSON-RPC', async () => {
    const token = await newToken('viewer');
    const headers = { authorization: `Bearer ${token}` };
    const rpcError = (code: string) => ({
      jsonrpc: '2.0',
      id: null,
      error: { message: expect.any(String), data: { code } },
    });
    const of = async (...args: Parameters<typeof post>) => {
      const { status, headers, body } = await post(...args);
      return { status, headers, body };
    };
    expect(await of(token, ping)).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } });
    expect(await of('sat_wrong', ping)).toMatchObject({
      status: 401,
      headers: { 'WWW-Authenticate': expect.stringMatching(/^Bearer resource_metadata="https:/) },
      body: rpcError('UNAUTHORIZED'),
    });
    for (const wrong of [[ping], { ...ping, id: null }, { ...ping, params: { _meta: 1 } }, 'x'])
      expect(await of(token, wrong)).toMatchObject({ status: 400, body: rpcError('VALIDATION_ERROR') });
    for (const [rawBody, code] of [
      ['{"jsonrpc":', -32_700],
      ['{}', -32_600],
    ] as const)
      expect((await invoke(handler, { method: 'POST', path: '/api/mcp', rawBody, headers })).body).toMatchObject({
        error: { code },
      });
    const unknown = { status: 200, body: { id: 1, error: { code: -32_601 } } };
    expect(await of(token, { ...ping, method: 'tools/pay' })).toMatchObject(unknown);
    for (const [method, params] of [
      ['tools/call', undefined],
      ['tools/call', { name: 5 }],
      ['tools/call', { name: 'spend', arguments: [1] }],
      ['tools/list', { cursor: 5 }],
      ['initialize', {}],
    ] as const)
      expect(await of(token, { ...ping, method, params })).toMatchObject({
        status: 200,
        body: { id: 1, error: { code: -32_602, message: expect.stringContaining('params') } },
      });
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await of(token, initialized)).toMatchObject({ status: 202, body: undefined });
    for (const method of ['GET', 'DELETE'])
      expect(await invoke(handler, { method, path: '/api/mcp', headers })).toMatchObject({
        ...{ status: 405, headers: { Allow: 'POST' }, body: rpcError('METHOD_NOT_ALLOWED') },
      });
  });

  it('refuses pages of other origins, and versions that it does not speak', async () => {
    const token = await newToken('viewer');
    expect((await post(token, ping, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(token, ping, { Origin: 'https://spend.example.com' })).status).toBe(200);
    expect((await post(token, ping, { 'MCP-Protocol-Version': '1999-01-01' })).status).toBe(400);
    expect((await post(token, ping, { 'MCP-Protocol-Version': '2025-06-18' })).status).toBe(200);
    expect(mcpVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });
});
