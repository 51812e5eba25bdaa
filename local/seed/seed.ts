import { setTimeout as delay } from 'node:timers/promises';
import { V7Generator } from 'uuidv7';
import { z } from 'zod';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openRules, type Rule } from '../../lambda/data/alerts/rules.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { evaluationDependencies } from '../../lambda/rule-evaluator/open-judge.ts';
import { useObservers, withObservers } from '../../lambda/usage-recorder/observers.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { callApi } from '../call-api.ts';
import { SetupError } from '../setup-error.ts';
import { seedTraffic } from './traffic.ts';

/** Keeps records long enough for two months. */
const PLAN = 'STARTER';
/** Every payment with it succeeds. */
const GOOD_CARD = '4242424242424242';
const POLL_MS = 200;
const TIMEOUT_MS = 60_000;

const checkoutSchema = z.object({ url: z.url() });
const statusSchema = z.object({ plan: z.string() });

/**
 * Buys a plan as a person would: checkout, the payment page, and the wait for the payment processor's word.
 *
 * @throws SetupError where the page is not the local payment processor's: nothing real is bought
 */
export const buyPlan = async (url: string, token: string): Promise<void> => {
  const checkout = await callApi(`${url}/api/billing/checkout`, checkoutSchema, token, { plan: PLAN });
  if (!['127.0.0.1', 'localhost'].includes(new URL(checkout.url).hostname)) {
    throw new SetupError('Seed data needs the local payment processor: unset STRIPE_SECRET_KEY.');
  }
  await fetch(checkout.url, { method: 'POST', body: new URLSearchParams({ card: GOOD_CARD }), redirect: 'manual' });
  const deadline = Date.now() + TIMEOUT_MS;
  while ((await callApi(`${url}/api/billing/status`, statusSchema, token)).plan !== PLAN) {
    if (Date.now() > deadline) throw new Error(`The plan is not ${PLAN} after ${TIMEOUT_MS / 1000} s.`);
    await delay(POLL_MS);
  }
};

/** Someone sees to an alert some hours after it; those of the last days are still open. */
const SEEN_AFTER_MS = 5 * HOUR_MS;
const OPEN_MS = 3 * DAY_MS;

// Rules watch from their creation on; these have, for the time of this, always been there.
const withPast = (rule: Rule): Rule => ({ ...rule, effectiveFrom: new Date(0).toISOString() });

/** Lets an account's rules look at what is recorded so far with the clock set back, so that their alerts come at their time. */
const pastEvaluator = (table: Table, account: { readonly accountId: string; readonly userId: string }, now: Date) => {
  const { accountId, userId } = account;
  const ids = new V7Generator();
  const alerts = openAlerts(table);
  const rules = openRules(table);
  let clock = now;
  const evaluate = evaluateAccount({
    ...evaluationDependencies(table),
    alerts,
    blocks: { change: async () => {}, changeByLimits: async () => {} },
    reservations: { compare: async () => async () => {} },
    measures: { note: async () => {} },
    newAlertId: () => ids.generateOrResetWithTs(clock.getTime()).toString(),
  });

  /** @returns how many alerts fired */
  const evaluateAt = async (at: Date): Promise<number> => {
    clock = at;
    const active = (await rules.list(accountId)).filter(({ isActive }) => isActive);
    const { fired } = await evaluate(accountId, active.map(withPast), at);
    if (at.getTime() < now.getTime() - OPEN_MS) {
      const seenAt = new Date(at.getTime() + SEEN_AFTER_MS).toISOString();
      for (const { alertId } of fired) await alerts.acknowledge(accountId, alertId, { userId, at: seenAt });
    }
    return fired.length;
  };
  /** Stores that the rules have always been there: alerts compare with that. Last, since the running evaluator judges by it. */
  const keepPast = async (): Promise<void> => {
    for (const rule of await rules.list(accountId)) await rules.replace(withPast(rule), rule.revision);
  };
  return { evaluateAt, keepPast };
};

/** Rules of the made-up company, as POST /alert-rules takes it. */
const seedRules = [
  { type: 'cost_threshold', name: 'Daily limit', config: { threshold: 22, period: 'daily' }, channels: ['email'] },
  {
    type: 'budget_forecast',
    name: 'Monthly budget',
    config: { budget: 600 },
    channels: ['email'],
  },
  {
    type: 'spend_anomaly',
    name: 'Unusual day',
    config: { period: 'daily', factor: 2, minimum: 10 },
    channels: ['email'],
  },
  {
    type: 'error_rate',
    name: 'Anthropic overloaded',
    config: { threshold: 12, period: 'daily', minimumRequests: 20, filter: { provider: 'anthropic' } },
    channels: ['email'],
  },
  {
    type: 'unpriced_usage',
    name: 'Models without a price',
    config: { threshold: 5, period: 'weekly' },
    channels: ['email'],
  },
] as const;

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

/** @throws SetupError where filling it was interrupted */
const isThere = async (url: string, table: Table): Promise<boolean> => {
  const session = await callApi(`${url}/api/auth/login`, sessionSchema, undefined, SEED_USER).catch(() => null);
  if (session === null) return false;
  const rules = await openRules(table).list((await openUsers(table).find(session.userId))?.accountId ?? '');
  // The last step keeps their past.
  if (rules.length > 0 && rules.every((rule) => rule.effectiveFrom !== withPast(rule).effectiveFrom))
    throw new SetupError('Filling this stack was interrupted: start with another folder (--data).');
  return true;
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
export const seedData = async (url: string, table: Table, interruption?: AbortSignal) => {
  if (await isThere(url, table)) return null;
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
    interruption?.throwIfAborted();
    recordedAtMs = Math.max(recordedAtMs, ...batch.map(({ startedAt }) => Date.parse(startedAt)));
    const failed = (await record(batch)).find(({ kind }) => kind !== 'recorded');
    if (failed) throw new Error(`Seed data could not be recorded: ${JSON.stringify(failed)}`);
    if (lookAt !== undefined) alerts += await past.evaluateAt(lookAt);
  }
  await past.keepPast();
  return { requests: events.length, alerts };
};
