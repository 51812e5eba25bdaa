import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { requestExport } from '../../../lambda/data/exports/day-exports.ts';
import { openReports } from '../../../lambda/data/reports/reports.ts';
import { openDayFiles } from '../../../lambda/data/requests/day-files.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import {
  dayFileIndexKey,
  dayFileKey,
  ROLLUP_MARK_SHARDS,
  reportRunKey,
  requestPartition,
} from '../../../lambda/data/table/keys.ts';
import { queryItems } from '../../../lambda/data/table/read.ts';
import { shardOf } from '../../../lambda/data/table/table.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { addDays, dayOf, hourOf, monthOf } from '../../../lambda/domain/calendar/utc.ts';
import { EXPORTS } from '../../../lambda/domain/object-keys.ts';
import { type ReportContent, reportContentSchema } from '../../../lambda/domain/reports/report-content.ts';
import { type TokenCounterName, tokenCounterNames } from '../../../lambda/domain/spend/counters.ts';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { demoCalls } from '../../../local/demo/calls.ts';
import { demoClients, sendTraffic } from '../../../local/demo/clients.ts';
import { buyPlan } from '../../../local/seed/seed.ts';
import { seedTraffic } from '../../../local/seed/traffic.ts';
import { openQuery, type Query } from '../../../ops/query/duckdb.ts';
import { clearOfMidnight } from '../../clear-of-midnight.ts';
import { eventually, verifyEmail } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

/* The traffic of `npm run demo` and of `--seed-data`, read in every way that spend can be read. */

const UNTRACKED = 7;

let accountId: string;
let query: Query;
let today: string;
let yesterday: string;
/** So old that its records leave the table. */
let oldDay: string;
let seeds: CloseEvent[];

const running = stackForTests({}, () => prepare());

const api = async (path: string) => {
  const { status, text, body } = await running.api('GET', path, { token: running.session.token });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body;
};
const post = async (path: string, body: unknown) =>
  (await running.api('POST', path, { token: running.session.token, body })).body;

/** Sends the calls of the demo through the gateway, whose clock is set back. */
const sendDemo = async (agoMs: number): Promise<void> => {
  const real = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() - agoMs);
  try {
    const makeCall = demoClients(running.url, running.session.accountId);
    expect(await sendTraffic(demoCalls, makeCall, () => {}, new AbortController().signal)).toEqual([]);
  } finally {
    clock.mockRestore();
  }
};

/** Records a day of the demo's workloads at its end. */
const recordWorkloads = async (events: readonly CloseEvent[]): Promise<void> => {
  const record = openRecorder(running.stack.table, {
    logger: console,
    now: () => Date.parse((events.at(-1) as CloseEvent).startedAt),
  });
  for (const result of await record(events)) expect(result).toMatchObject({ kind: 'recorded' });
};

/** A day of the workloads: of every tenth request tracking has failed, and the client of every tenth has disconnected. */
const seedsOf = (day: string) =>
  seeds
    .filter(({ startedAt }) => dayOf(startedAt) === day)
    .map((event, n): CloseEvent => {
      if (n % 10 === 0) return { ...event, route: 'bypassed' };
      if (n % 10 > 1 || event.reading.usage === null) return event;
      const reading = { ...event.reading, usageSource: 'estimated', complete: false } as const;
      return { ...event, outcome: 'client_aborted', reading };
    });

await clearOfMidnight();

const prepare = async () => {
  const { session, url, stack } = running;
  const { table } = stack;
  accountId = (await openUsers(table).find(session.userId))?.accountId ?? '';
  await buyPlan(url, session.token);
  await verifyEmail(running, session);
  await post('/budgets', { name: 'Team', amount: 1_000, period: 'monthly' });
  today = dayOf(new Date().toISOString());
  [yesterday, oldDay] = [addDays(today, -1), addDays(today, -40)];
  const { id: batchKeyId } = await post('/keys', { name: 'Batch jobs' });
  const [{ id: keyId }] = (await api('/keys')).items.filter(({ id }: { id: string }) => id !== batchKeyId);
  seeds = seedTraffic({ accountId, keyId, batchKeyId }, new Date());
  await sendDemo(DAY_MS);
  await sendDemo(0);
  for (const day of [oldDay, yesterday]) await recordWorkloads(seedsOf(day));
  const gap = { kind: 'untracked', version: 1, requestId: uuidv7(), accountId, requests: UNTRACKED } as const;
  const at = `${yesterday}T12:00:00.000Z`;
  await openRecorder(table, { logger: console })([{ ...gap, from: at, to: at }]);

  const recorded = seedsOf(yesterday).length + 2 * demoCalls.length;
  await eventually(
    async () => (await api(`/spend?from=${yesterday}`)).totals,
    ({ requests, unfinishedRequests }) => requests === recorded && unfinishedRequests === 0,
    { scheduled: [] },
  );
  // Before one o'clock yesterday is not rolled up yet: `npm run exports` has it exported at any time.
  const requestedDays = { [oldDay]: seedsOf(oldDay).length, [yesterday]: recorded - demoCalls.length };
  for (const day of Object.keys(requestedDays)) await write(table, requestExport(accountId, day, Date.now()));
  await eventually(
    async () => (await api(`/exports?from=${oldDay}`)).items as { day: string; requests: number }[],
    (items) => items.length === 6 && items.every(({ day, requests }) => requests === requestedDays[day]),
    { scheduled: ['Rollup', 'Exporter'] },
  );
  // The bucket is the only one.
  const [exported = ''] = globSync(`objects/buckets/*/objects/${EXPORTS}`, { cwd: running.stack.dataDir });
  query = await openQuery(join(running.stack.dataDir, dirname(exported)));
};
afterAll(() => query?.close());

/** What each way of reading spend has, of a provider or of all. A sum of no known cost is 0 here. */
interface Sums {
  readonly costNanoUsd: number;
  readonly requests: number;
  readonly unpricedRequests: number;
  readonly bypassedRequests: number;
  readonly tokens: Readonly<Partial<Record<TokenCounterName, number>>>;
}
type ByProvider = Readonly<Record<string, Sums>>;

const plus = (one: Sums | undefined, other: Sums): Sums =>
  one === undefined
    ? other
    : {
        costNanoUsd: one.costNanoUsd + other.costNanoUsd,
        requests: one.requests + other.requests,
        unpricedRequests: one.unpricedRequests + other.unpricedRequests,
        bypassedRequests: one.bypassedRequests + other.bypassedRequests,
        tokens: Object.fromEntries(
          [...Object.keys(one.tokens), ...Object.keys(other.tokens)].map((name) => {
            const kind = name as TokenCounterName;
            return [kind, (one.tokens[kind] ?? 0) + (other.tokens[kind] ?? 0)];
          }),
        ),
      };
const together = (some: readonly ByProvider[]): ByProvider => {
  const sums: Record<string, Sums> = {};
  for (const each of some) for (const [name, more] of Object.entries(each)) sums[name] = plus(sums[name], more);
  return sums;
};

/** `GET /spend` of some days, both included. */
const spendOf = async (from: string, to: string): Promise<ByProvider> => {
  const { groups, totals } = await api(`/spend?from=${from}&to=${to}&groupBy=provider`);
  const sums = Object.fromEntries(
    groups.map(({ provider, costNanoUsd, ...group }: Sums & { provider: string; costNanoUsd: number | null }) => [
      provider,
      {
        costNanoUsd: costNanoUsd ?? 0,
        requests: group.requests,
        unpricedRequests: group.unpricedRequests,
        bypassedRequests: group.bypassedRequests,
        tokens: Object.fromEntries(tokenCounterNames.map((name) => [name, group.tokens[name]])),
      },
    ]),
  );
  const { costNanoUsd, requests } = Object.values(sums as ByProvider).reduce((all, each) => plus(all, each));
  expect({ costNanoUsd, requests }).toEqual({ costNanoUsd: totals.costNanoUsd, requests: totals.requests });
  return sums;
};

/** The kinds of tokens that have columns of their own. */
const exportedTokens = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const;
const onlyExported = (sums: ByProvider): ByProvider =>
  Object.fromEntries(
    Object.entries(sums).map(([provider, { tokens, ...others }]) => [
      provider,
      { ...others, tokens: Object.fromEntries(exportedTokens.map((name) => [name, tokens[name]])) },
    ]),
  );
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const nanoUsd = (usd: unknown): number => Math.round(Number(usd) * 1e9);

/** Rows of the export as sums. @param tokenColumn of a kind of tokens */
const exportedBy = async (sql: string): Promise<ByProvider> =>
  Object.fromEntries(
    (await query.rows(sql)).map((row) => [
      row['provider'],
      {
        costNanoUsd: nanoUsd(row['cost']),
        requests: Number(row['requests']),
        unpricedRequests: Number(row['unpriced']),
        bypassedRequests: Number(row['bypassed']),
        tokens: Object.fromEntries(exportedTokens.map((name) => [name, Number(row[name])])),
      },
    ]),
  );
/** The export of request records, of a day. */
const exportedRequests = (day: string, condition = 'true') =>
  exportedBy(`
    SELECT provider, sum(cost_usd)::VARCHAR AS cost, count(*) AS requests,
      count(*) FILTER (cost_usd IS NULL) AS unpriced, count(*) FILTER (route = 'bypassed') AS bypassed,
      ${exportedTokens.map((name) => `coalesce(sum(${snakeCase(name)}) FILTER (repeat_of IS NULL), 0) AS "${name}"`)}
    FROM requests WHERE day = '${day}' AND ${condition} GROUP BY provider`);
/** The FOCUS export of a day, which has no request of unknown cost, and no routes. */
const exportedCharges = (day: string) =>
  exportedBy(`
    SELECT x_Provider AS provider, sum(x_Cost)::VARCHAR AS cost, sum(x_Requests) AS requests,
      0 AS unpriced, 0 AS bypassed,
      ${exportedTokens.map((name) => `coalesce(sum("x_${name[0]?.toUpperCase()}${name.slice(1)}"), 0) AS "${name}"`)}
    FROM cost_and_usage WHERE day = '${day}' GROUP BY 1`);

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}
/** `GET /metrics` as a machine with an API token scrapes it. */
const scrape = async (): Promise<Sample[]> => {
  const { token } = await post('/tokens', { name: 'scraper', role: 'viewer' });
  const { text } = await running.api('GET', '/machine/metrics', { token });
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return { name, labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])), value };
    });
};
const nanoOf = ({ value }: Sample): number => nanoUsd(value);

describe('the traffic of the demo', () => {
  it('has what makes numbers differ', async () => {
    const { totals } = await api(`/spend?from=${yesterday}&to=${yesterday}`);
    for (const provenance of ['provider', 'computed', 'estimated'])
      expect(totals.costByProvenance[provenance].costNanoUsd).toBeGreaterThan(0);
    for (const count of [totals.unpricedRequests, totals.freeRequests, totals.bypassedRequests, totals.errors])
      expect(count).toBeGreaterThan(0);
  });

  it('has the sums of its requests between any hours, in every report of them', async () => {
    const { items } = await api(`/requests?from=${yesterday}&to=${yesterday}&limit=200`);
    const hours = [...new Set((items as { startedAt: string }[]).map(({ startedAt }) => hourOf(startedAt)))].sort();
    expect(hours.length).toBeGreaterThan(4);
    const [from, to] = [`${hours[1]}:00:00Z`, `${hours.at(-2)}:00:00Z`];
    const within = items.filter(
      ({ startedAt }: { startedAt: string }) =>
        Date.parse(startedAt) >= Date.parse(from) && Date.parse(startedAt) < Date.parse(to),
    );
    const costNanoUsd = within.reduce((sum: number, each: Sums) => sum + (each.costNanoUsd ?? 0), 0);
    const expected = { requests: within.length, costNanoUsd };
    for (const granularity of ['', '&granularity=hour', '&granularity=day', '&granularity=month']) {
      const query = `from=${from}&to=${to}${granularity}`;
      expect((await api(`/spend?${query}`)).totals).toMatchObject(expected);
      const csv = await running.api('GET', `/spend/export.csv?${query}`, { token: running.session.token });
      const lines = csv.text.trim().split('\r\n').slice(1);
      expect(nanoUsd(lines.reduce((sum, line) => sum + Number(line.split(',')[2]), 0))).toBe(costNanoUsd);
    }
    expect((await api(`/spend/compare?from=${from}&to=${to}`)).totals).toMatchObject(expected);
    for (const path of ['spend', 'spend/export.csv', 'spend/compare', 'sessions'])
      expect(
        await running.api('GET', `/${path}?from=${hours[1]}:30:00Z&to=${to}`, { token: running.session.token }),
      ).toMatchObject({ status: 400 });
  });

  it('has the sums of the API in both exports of a day', async () => {
    for (const day of [oldDay, yesterday]) {
      const spend = onlyExported(await spendOf(day, day));
      expect(await exportedRequests(day)).toEqual(spend);
      const known = await exportedRequests(day, 'cost_usd IS NOT NULL');
      expect(Object.values(known).reduce((all, each) => plus(all, each)).costNanoUsd).toBeGreaterThan(0);
      expect(await exportedCharges(day)).toEqual(
        Object.fromEntries(Object.entries(known).map(([name, sums]) => [name, { ...sums, bypassedRequests: 0 }])),
      );
    }
    const [listed] = (await api(`/exports?from=${yesterday}`)).items;
    const { totals } = await api(`/spend?from=${yesterday}&to=${yesterday}`);
    const { requests, costNanoUsd, unpricedRequests } = totals;
    expect(listed).toMatchObject({ day: yesterday, requests, costNanoUsd, unpricedRequests });
  });

  it('has the sums of the API, and so of the exports, in a scrape', async () => {
    const samples = await scrape();
    const sumOf = (name: string, labels: Record<string, string>, numberOf = ({ value }: Sample) => Number(value)) =>
      samples
        .filter((sample) => sample.name === name)
        .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
        .reduce((sum, sample) => sum + numberOf(sample), 0);
    const days = monthOf(yesterday) === monthOf(today) ? [yesterday] : [];
    const ofToday = await spendOf(today, today);
    const ofMonth = together([ofToday, ...(await Promise.all(days.map((day) => spendOf(day, day))))]);
    const exported = await Promise.all(days.map((day) => exportedRequests(day)));
    expect(onlyExported(ofMonth)).toEqual(together([onlyExported(ofToday), ...exported]));
    for (const [period, spend] of Object.entries({ today: ofToday, month: ofMonth })) {
      for (const [provider, { costNanoUsd, unpricedRequests }] of Object.entries(spend)) {
        expect(sumOf('ai_spend_cost_usd', { period, provider }, nanoOf)).toBe(costNanoUsd);
        expect(sumOf('ai_spend_unknown_cost_requests', { period, provider })).toBe(unpricedRequests);
      }
      const { costNanoUsd } = Object.values(spend).reduce((all, each) => plus(all, each));
      expect(sumOf('ai_spend_cost_usd', { period }, nanoOf)).toBe(costNanoUsd);
      expect(sumOf('ai_spend_group_cost_usd', { period, by: 'model' }, nanoOf)).toBe(costNanoUsd);
    }
    const ofAll = await spendOf(addDays(today, -300), today);
    for (const [provider, { requests, bypassedRequests, tokens }] of Object.entries(ofAll)) {
      expect(sumOf('ai_spend_requests_total', { provider })).toBe(requests);
      expect(sumOf('ai_spend_bypassed_requests_total', { provider })).toBe(bypassedRequests);
      for (const [name, count] of Object.entries(tokens))
        expect(sumOf('ai_spend_tokens_total', { provider, kind: snakeCase(name).replace(/_tokens$/, '') })).toBe(count);
    }
    expect(sumOf('ai_spend_untracked_requests_total', {})).toBe(UNTRACKED);
    const [budget] = (await api('/budgets')).items;
    expect(budget.state.usedNanoUsd).toBeGreaterThan(0);
    expect(sumOf('ai_spend_budget_used_usd', { budget_id: budget.id }, nanoOf)).toBe(budget.state.usedNanoUsd);
  });

  it('has the sums of the API, and so of the exports, in a scheduled report and its mail', async () => {
    const { table } = running.stack;
    const { id } = await post('/reports', {
      name: 'Daily spend',
      schedule: { every: 'daily', hour: 1 },
      groupBy: ['provider'],
    });
    const dueAt = new Date().toISOString();
    const reports = openReports(table);
    await reports.postpone(await reports.find(accountId, id), { nextDay: yesterday, nextAt: dueAt }, dueAt);
    const read = async (): Promise<ReportContent | undefined> => {
      const { pk, sk } = reportRunKey(accountId, id, `${yesterday}#daily`);
      for await (const item of queryItems(table, {
        KeyConditionExpression: 'pk = :pk AND sk = :sk',
        ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      }))
        return reportContentSchema.parse(item['content']);
      return undefined;
    };
    const content = (await eventually(read, (found) => found !== undefined, {
      scheduled: ['AccountJobs'],
    })) as ReportContent;
    const { totals } = await api(`/spend?from=${yesterday}&to=${yesterday}`);
    const { costNanoUsd, requests, unpricedRequests } = totals;
    expect(content.totals).toMatchObject({ costNanoUsd, requests, unpricedRequests });
    expect(content.coverage).toEqual({
      estimatedNanoUsd: totals.costByProvenance.estimated.costNanoUsd,
      bypassedRequests: totals.bypassedRequests,
      unfinishedRequests: 0,
      partialRequests: totals.partialRequests,
      untrackedRequests: UNTRACKED,
    });
    const spend = await exportedRequests(yesterday);
    const groups = content.breakdowns[0]?.groups ?? [];
    expect(groups).toHaveLength(Object.keys(spend).length);
    for (const { value, ...group } of groups)
      expect({ ...group, costNanoUsd: group.costNanoUsd ?? 0 }).toMatchObject({
        costNanoUsd: spend[String(value)]?.costNanoUsd,
        requests: spend[String(value)]?.requests,
        unpricedRequests: spend[String(value)]?.unpricedRequests,
      });
    const [budget] = (await api('/budgets')).items;
    expect(content.budgets).toMatchObject([{ id: budget.id, usedNanoUsd: budget.state.usedNanoUsd }]);
    const [mail] = await eventually(
      async () => (await running.stack.inbox()).filter(({ subject }) => subject.startsWith('AI spend report')),
      (mails) => mails.length > 0,
      { scheduled: ['RuleEvaluator'] },
    );
    expect(mail?.body.text).toContain(`$${(costNanoUsd / 1e9).toFixed(2)} was spent on ${requests} requests`);
    expect(mail?.body.text).toContain(`The cost of ${unpricedRequests} request`);
  });

  it('is found and adds up where its records have left the table', async () => {
    const { table } = running.stack;
    const [before] = (await api(`/requests?from=${oldDay}&to=${oldDay}&limit=1`)).items;
    const files = openDayFiles(table);
    await eventually(
      () => files.find(accountId, oldDay),
      (entry) => entry?.file !== undefined,
      { scheduled: ['Exporter'] },
    );
    // A day later they are deleted: that day is over at once.
    const { gsi1sk } = dayFileIndexKey(shardOf(accountId, ROLLUP_MARK_SHARDS), dayOf(oldDay), accountId, oldDay);
    await write(table, update(dayFileKey(accountId, oldDay), 'SET gsi1sk = :due', null, { due: gsi1sk }));
    const inTable = async () => {
      let items = 0;
      for await (const _ of queryItems(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': requestPartition(accountId, oldDay) },
      }))
        items += 1;
      return items;
    };
    expect(await eventually(inTable, (items) => items === 0, { scheduled: ['Exporter'] })).toBe(0);
    const shown: { requestId: string; costNanoUsd: number | null }[] = [];
    let cursor: string | null = null;
    do {
      const page = await api(
        `/requests?from=${oldDay}&to=${oldDay}&limit=50${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(page.unreadableRequests).toBe(0);
      shown.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    const ids = seedsOf(oldDay).map(({ requestId }) => requestId);
    expect(shown.map(({ requestId }) => requestId).sort()).toEqual(ids.sort());
    expect(shown[0]).toEqual(before);
    expect(await api(`/requests/${before.requestId}`)).toMatchObject(before);
    const { totals } = await api(`/spend?from=${oldDay}&to=${oldDay}`);
    expect(shown.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0)).toBe(totals.costNanoUsd);
    expect(shown.filter(({ costNanoUsd }) => costNanoUsd === null)).toHaveLength(totals.unpricedRequests);
  });
});
