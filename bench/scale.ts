/**
 * Cost per request as an account's data grows: admission, the dashboard's queries, and recording, at 10,000, 100,000 and a million
 * request records of one account. None of them may grow. Times, and the units DynamoDB would charge; samples of all sizes are taken
 * in turn, each size on an emulator of its own.
 */

import type { EmulatedTable } from '../fixtures/emulated-table.ts';
import { readingOf } from '../fixtures/open-dashboard.ts';
import { readRequests } from '../lambda/dashboard/requests/read-requests.ts';
import { readSpend } from '../lambda/dashboard/spend/read-spend.ts';
import { openDeclaredDimensions } from '../lambda/data/accounts/declared-dimensions.ts';
import { openPeriodUsage } from '../lambda/data/billing/billing-usage.ts';
import { openTrackingGaps } from '../lambda/data/ledger/tracking-gaps.ts';
import { requestCursor } from '../lambda/data/requests/request-pages.ts';
import { openRequests } from '../lambda/data/requests/requests.ts';
import { openSpend } from '../lambda/data/spend/spend.ts';
import { billingPeriod } from '../lambda/domain/billing/subscription.ts';
import { DAY_MS } from '../lambda/domain/calendar/units.ts';
import { keyReader } from '../lambda/gateway/admission/account-lookup.ts';
import { awsCaller, awsService } from '../lambda/gateway/aws/aws-json.ts';
import { undiciTransport } from '../lambda/gateway/aws/transport-undici.ts';
import { openRecorder } from '../lambda/usage-recorder/recorder.ts';
import { median, quantile, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';
import { ACCOUNT, accountWithRecords, DAYS, requestAt, SERVICE_KEY } from './scale/account-with-records.ts';
import { type UnitCounter, unitCounter } from './scale/count-units.ts';

const { records: sizes, samples } = benchOptions('scale', { records: [10_000, 100_000, 1_000_000], samples: 60 });

const now = new Date();
const iso = (ms: number): string => new Date(ms).toISOString();
const monthAgo = iso(now.getTime() - DAYS * DAY_MS);
const today = iso(now.getTime()).slice(0, 10);

interface Question {
  readonly what: string;
  readonly ask: () => Promise<unknown>;
}

/** What is asked of an account, through the functions that the handlers are made of. */
const questionsTo = (table: EmulatedTable, units: UnitCounter, someId: string): readonly Question[] => {
  const service = awsService('dynamodb', { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL_DYNAMODB: table.endpoint });
  const dynamoDb = awsCaller(service, () => ({ accessKeyId: 'local', secretAccessKey: 'local' }), undiciTransport);
  const readKey = keyReader(units.counted(dynamoDb), table.name, 5_000);
  const reads = {
    ...readingOf(table, () => now),
    ...{ requests: openRequests(table), findCurrency: async () => null },
  };
  const { listRequests: page, readRequest: one } = readRequests(reads);
  const spend = readSpend({
    readCounters: openSpend(table).read,
    findDeclared: openDeclaredDimensions(table).find,
    readTrackingGaps: openTrackingGaps(table).gaps,
    now: () => now,
  });
  const usage = openPeriodUsage(table);
  const record = openRecorder(table, { logger: { error: console.error } });
  const input = {
    caller: { accountId: ACCOUNT, userId: 'u', role: 'owner' as const, name: 'u' },
    body: undefined,
    authorization: '',
    requestId: 'r',
  };
  const noParams = { ...input, params: undefined };
  const inRange = { from: monthAgo, limit: 20 };
  const middle = requestCursor.write(ACCOUNT, { day: iso(now.getTime() - 14 * DAY_MS).slice(0, 10), requestId: null });
  const byDay = { granularity: 'day', cost: 'effective', groupBy: ['model'], limit: 100, from: monthAgo } as const;
  return [
    { what: 'admission (cache missed)', ask: () => readKey(SERVICE_KEY) },
    {
      what: 'GET /spend, four weeks by day and model',
      ask: () => spend({ ...noParams, query: { ...byDay, groupBy: ['model'] } }),
    },
    {
      what: 'GET /spend, four weeks by model and tag',
      ask: () => spend({ ...noParams, query: { ...byDay, groupBy: ['model', 'tag'] } }),
    },
    {
      what: 'GET /spend, today by hour',
      ask: () =>
        spend({ ...noParams, query: { granularity: 'hour', cost: 'effective', groupBy: [], limit: 100, from: today } }),
    },
    { what: 'GET /requests, newest 20', ask: () => page({ ...noParams, query: inRange }) },
    {
      what: 'GET /requests, 20 from the middle',
      ask: () => page({ ...noParams, query: { ...inRange, cursor: middle } }),
    },
    {
      what: 'GET /requests, 20 of one model',
      ask: () => page({ ...noParams, query: { ...inRange, model: 'o3-mini-2025-01-31' } }),
    },
    { what: 'GET /requests/{id}', ask: () => one({ ...input, query: undefined, params: { requestId: someId } }) },
    { what: 'tracked requests of the month', ask: () => usage(ACCOUNT, billingPeriod(null, now), now) },
    {
      what: 'recording ten requests',
      ask: () => record(Array.from({ length: 10 }, (_, n) => requestAt(Date.now(), n))),
    },
  ];
};

const open = async (records: number) => {
  const startedMs = performance.now();
  const { table, someId } = await accountWithRecords(records, now);
  console.log(`${records} records stand after ${Math.round((performance.now() - startedMs) / 1_000)} s.`);
  const counter = unitCounter();
  const asked = questionsTo(table, counter, someId).map((question) => ({
    ...question,
    times: [] as number[],
    units: 0,
  }));
  return { records, table, counter, asked };
};

const opened: Awaited<ReturnType<typeof open>>[] = [];
try {
  for (const records of sizes) opened.push(await open(records));
  // The first round warms connections and code, and is not counted.
  for (let round = 0; round <= samples; round++) {
    for (const { asked, counter } of opened) {
      for (const question of asked) {
        const startedMs = performance.now();
        await question.ask();
        const ms = performance.now() - startedMs;
        const units = counter.take();
        if (round === 0) continue;
        question.times.push(ms);
        question.units += units;
      }
    }
  }
  const results = (opened[0]?.asked ?? []).flatMap(({ what }, index) =>
    opened.map(({ records, asked }) => {
      const { times, units } = asked[index] ?? { times: [], units: 0 };
      return {
        what,
        records,
        p50Ms: rounded(median(times), 2),
        p95Ms: rounded(quantile(times, 0.95), 2),
        units: rounded(units / samples, 1),
      };
    }),
  );
  report('scale', { samples }, results);
} finally {
  for (const { table } of opened) await table.stop();
}
