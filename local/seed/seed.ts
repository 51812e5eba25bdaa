import { z } from 'zod';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { useObservers, withObservers } from '../../lambda/usage-recorder/observers.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { callApi } from '../call-api.ts';
import { buyPlan } from './buy-plan.ts';
import { pastEvaluator } from './history.ts';
import { seedRules } from './rules.ts';
import { seedTraffic } from './traffic.ts';

/** Who to sign in as. */
export const SEED_USER = { email: 'demo@example.com', password: 'Plausible-Spend-1' } as const;
const NAMES = { firstName: 'Grace', lastName: 'Hopper', companyName: 'Compilers & Co.' };

/** Days for which alerts are made, and how often rules are evaluated on each. */
const WATCHED_MS = 26 * DAY_MS;
const LOOK_EVERY_MS = 6 * HOUR_MS;
/** Events recorded at once: some transactions each. */
const BATCH = 250;

const sessionSchema = z.object({ userId: z.string(), token: z.string() });
const keySchema = z.object({ id: z.string() });
const keysSchema = z.object({ items: z.array(keySchema) });

interface SeedResult {
  readonly requests: number;
  readonly alerts: number;
}

const isThere = async (url: string): Promise<boolean> => {
  const { email, password } = SEED_USER;
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  return response.ok;
};

/** Batches of events, oldest first; in the watched days one for each look, which follows it. */
function* inTime(events: readonly CloseEvent[], now: Date) {
  const watchedFrom = now.getTime() - WATCHED_MS;
  const startOf = ({ startedAt }: CloseEvent) => Date.parse(startedAt);
  const before = events.filter((event) => startOf(event) < watchedFrom);
  for (let start = 0; start < before.length; start += BATCH) {
    yield { batch: before.slice(start, start + BATCH), lookAt: undefined };
  }
  for (let from = watchedFrom; from < now.getTime(); from += LOOK_EVERY_MS) {
    const batch = events.filter((event) => startOf(event) >= from && startOf(event) < from + LOOK_EVERY_MS);
    yield { batch, lookAt: new Date(from + LOOK_EVERY_MS) };
  }
}

/**
 * Fills a running stack with two months of plausible spend of one account: registered, with keys and rules, over the API;
 * its requests through the recorder's own code; its alerts through the evaluator's.
 *
 * @returns null where the account is there already, and nothing was done
 */
export const seedData = async (url: string, table: Table): Promise<SeedResult | null> => {
  if (await isThere(url)) return null;
  const now = new Date();
  const { userId, token } = await callApi(`${url}/api/auth/register`, sessionSchema, undefined, {
    ...SEED_USER,
    ...NAMES,
  });
  const accountId = (await openUsers(table).find(userId))?.accountId;
  if (accountId === undefined) throw new Error('The account that was registered is not in the table.');
  await openUsers(table).verifyEmail({ userId, accountId }, SEED_USER.email, now.toISOString());
  const batchKey = await callApi(`${url}/api/keys`, keySchema, token, { name: 'Batch jobs' });
  await buyPlan(url, token);
  const { items } = await callApi(`${url}/api/keys`, keysSchema, token);
  const keyId = items.find(({ id }) => id !== batchKey.id)?.id ?? batchKey.id;
  for (const rule of seedRules) await callApi(`${url}/api/alert-rules`, z.unknown(), token, rule);
  const events = seedTraffic({ accountId, keyId, batchKeyId: batchKey.id }, now);
  // Each batch is recorded at the time of its last request: the recorder accepts no event of another month.
  let recordedAtMs = 0;
  const recorder = openRecorder(table, { logger: console, now: () => recordedAtMs });
  const record = withObservers(recorder, useObservers(table), console);
  const past = pastEvaluator(table, { accountId, userId }, now);
  let alerts = 0;
  // In the order of time, with a look at the rules in between: an alert knows of nothing that came after it.
  for (const { batch, lookAt } of inTime(events, now)) {
    recordedAtMs = Math.max(recordedAtMs, ...batch.map(({ startedAt }) => Date.parse(startedAt)));
    const failed = (await record(batch)).find(({ kind }) => kind !== 'recorded');
    if (failed) throw new Error(`Seed data could not be recorded: ${JSON.stringify(failed)}`);
    if (lookAt !== undefined) alerts += await past.evaluateAt(lookAt);
  }
  await past.keepPast();
  return { requests: events.length, alerts };
};
