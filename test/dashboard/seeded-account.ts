import { openBills } from '../../lambda/data/reconciliation/bills.ts';
import { parseRequestItem } from '../../lambda/data/requests/request-item.ts';
import { requestPartition } from '../../lambda/data/table/keys.ts';
import { queryItems } from '../../lambda/data/table/read.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { seedTraffic } from '../../local/seed/traffic.ts';
import { clearOfMidnight } from '../clear-of-midnight.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { invoke, silentLogger } from '../http/invoke.ts';
import { SEED } from '../seed.ts';
import { openDashboard } from './open-dashboard.ts';

/*
 * An account with the seeded traffic, and its sums: added up here from the requests and the cost that each has on record. No counter,
 * summary or report has a part in them.
 */

await clearOfMidnight();

export const now = new Date();
export const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
export const iso = (ms: number) => new Date(ms).toISOString();
export const dayAgo = (ago: number) => iso(today - ago * DAY_MS).slice(0, 10);

/** Of the seeded requests one of a few is used, which keeps what the account is made of. */
const THINNED = 4;
/** Teams are a dimension from the start of this day on. */
const declaredAt = today - 33 * DAY_MS;
const RATES = [
  { ago: 50, perUsd: '0.9' },
  { ago: 38, perUsd: '0.876543219' },
  { ago: 9, perUsd: '0.91' },
];
/** A bill with the same amount for each day. */
export const BILLED = { provider: 'openai', from: 20, to: 5, eachDayNanoUsd: 1_234_567_891 } as const;

interface Budget {
  readonly name: string;
  readonly amount: number;
  readonly period: unknown;
  readonly filter?: Readonly<Record<string, string>>;
  /** When the current period began. */
  readonly from: number;
}
export const budgets: readonly Budget[] = [
  { name: 'month', amount: 400, period: 'monthly', from: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) },
  { name: 'day', amount: 5, period: 'daily', filter: { provider: 'anthropic' }, from: today },
  {
    ...{ name: 'fixed', amount: 1, filter: { tag: 'summaries' } },
    ...{ period: { from: dayAgo(20), to: dayAgo(-9) }, from: today - 20 * DAY_MS },
  },
];

/** A seeded request, and what is on record of its cost. */
export interface Row {
  readonly id: string;
  readonly ms: number;
  readonly names: Readonly<Record<string, string | null>>;
  readonly session: CloseEvent['session'];
  readonly status: number | null;
  readonly outcome: string;
  readonly nanoUsd: number | null;
  readonly provenance: string;
  readonly tokens: readonly [input: number, output: number];
}

export const decimal = (amount: bigint, digits = 9): string => {
  const text = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, '0');
  return `${amount < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, '');
};
export const nanoOf = (some: readonly Row[]) => some.reduce((sum, { nanoUsd }) => sum + BigInt(nanoUsd ?? 0), 0n);
export const unknownIn = (some: readonly Row[]) => some.filter(({ nanoUsd }) => nanoUsd === null).length;
export const isKnown = (some: readonly Row[], mayLack = false) =>
  nanoOf(some) !== 0n || (unknownIn(some) === 0 && !mayLack);
export const costOf = (some: readonly Row[], mayLack = false) =>
  isKnown(some, mayLack) ? decimal(nanoOf(some)) : 'unknown';
/** Each day at its rate, rounded once. */
export const eurOf = (some: readonly Row[], mayLack = false): string => {
  let [sum, hasRate] = [0n, true];
  for (const { ms, nanoUsd } of some) {
    const rate = RATES.findLast(({ ago }) => ms >= today - ago * DAY_MS);
    if (nanoUsd && !rate) hasRate = false;
    sum += BigInt(nanoUsd ?? 0) * BigInt(Math.round(Number(rate?.perUsd ?? 0) * 1e9));
  }
  return hasRate && isKnown(some, mayLack) ? decimal((sum + 500_000_000n) / 1_000_000_000n) : 'unknown';
};
export const pointOf = (some: readonly Row[], mayLack = false) => ({
  requests: some.length,
  costUsd: costOf(some, mayLack),
  displayCost: eurOf(some, mayLack),
  unpricedRequests: unknownIn(some),
});
export const sumsOf = (some: readonly Row[], mayLack = false) => ({
  ...pointOf(some, mayLack),
  errors: some.filter(({ status }) => (status ?? 0) >= 400).length,
  freeRequests: some.filter(({ provenance }) => provenance === 'free').length,
});
export const byName = (some: readonly Row[], groupBy: readonly string[]) =>
  Map.groupBy(some, (row) => JSON.stringify(groupBy.map((name) => row.names[name] ?? null)));
/** Fills a table. */
export const seedAccount = async (table: Table) => {
  const account = await newAccount(table, 'STARTER');
  const settingsAt = (at: number) => {
    const handler = openDashboard(table, () => new Date(at));
    return async (method: string, path: string, body: object) => {
      const response = await invoke(handler, { method, path: `/api${path}`, body, caller: account });
      if (response.status >= 300) throw new Error(`${path}: ${response.text}`);
      return response.body;
    };
  };
  await settingsAt(declaredAt)('PUT', '/dimensions', { names: ['team'] });
  const settings = settingsAt(now.getTime());
  const rates = RATES.map(({ ago, perUsd }) => ({ from: dayAgo(ago), perUsd }));
  await settings('PUT', '/prices/currency', { currency: { code: 'EUR', rates } });
  const { id: project } = await settings('POST', '/projects', { name: 'Batch' });
  const keys = [
    { project, member: account.userId, id: (await settings('POST', '/keys', { name: 'Batch jobs', project })).id },
    { project, member: null, id: (await settings('POST', '/keys', { name: 'Nobody', project, member: null })).id },
    { project: 'default', member: account.userId, id: account.keyId },
  ];
  for (const { from: _, ...budget } of budgets) await settings('POST', '/budgets', budget);
  const seeds = seedTraffic({ ...account, batchKeyId: keys[0]?.id ?? '' }, now)
    .filter((_, n) => n % THINNED === SEED % THINNED)
    .map(
      (event, n): CloseEvent => ({
        ...event,
        ...(n % 7 === 0 && { keyId: keys[1]?.id ?? '' }),
        ...(n % 4 > 0 && { metadata: { team: ['search', 'core', 'ads (none)'][n % 3] ?? '' } }),
      }),
    );
  let recordedAt = 0;
  const record = openRecorder(table, { logger: silentLogger(), now: () => recordedAt });
  for (let from = 0; from < seeds.length; from += 250) {
    const batch = seeds.slice(from, from + 250);
    recordedAt = Date.parse(batch.at(-1)?.startedAt ?? '');
    const failed = (await record(batch)).find(({ kind }) => kind !== 'recorded');
    if (failed) throw new Error(`Not recorded: ${JSON.stringify(failed)}`);
  }
  // Days before yesterday are read from summaries, then months.
  for (let round = 0; round < 2; round++) await rollUpDue(table, now.getTime());
  const onRecord = new Map<string, ReturnType<typeof parseRequestItem>>();
  for (let day = today - 62 * DAY_MS; day <= today; day += DAY_MS)
    for await (const item of queryItems(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': requestPartition(account.accountId, iso(day).slice(0, 10)) },
    }))
      onRecord.set(String(item['sk']), parseRequestItem(item));
  if (onRecord.size !== seeds.length) throw new Error(`${onRecord.size} of ${seeds.length} requests are on record.`);
  const rows = seeds.map(({ requestId: id, startedAt, reading, ...event }): Row => {
    const key = keys.find((each) => each.id === event.keyId);
    const { costNanoUsd: nanoUsd = null, provenance = '', usage } = onRecord.get(id) ?? {};
    const team = event.metadata?.['team'] ?? null;
    return {
      ...{ id, ms: Date.parse(startedAt), session: event.session, status: event.status, outcome: event.outcome },
      ...{ nanoUsd, provenance, tokens: [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0] },
      names: {
        ...{ provider: event.provider, model: reading.modelServed ?? reading.modelRequested, tag: event.tag },
        ...{ key: event.keyId ?? null, providerKey: event.providerKey, client: event.client ?? null },
        ...{ project: key?.project ?? null, member: key?.member ?? null, metadata: team },
        'dim:team': Date.parse(startedAt) < declaredAt ? '(unknown)' : team,
      },
    };
  });
  const lines = Array.from({ length: BILLED.from - BILLED.to + 1 }, (_, n) => ({
    ...{ day: dayAgo(BILLED.to + n), item: '', model: null, scope: '', amountNanoUsd: BILLED.eachDayNanoUsd },
  }));
  await openBills(table).replace(account.accountId, BILLED.provider, { lines, usage: [] }, iso(now.getTime()));
  return { account, rows };
};
