import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callApi } from '../call-api.ts';

/** Keeps records long enough for two months. */
const PLAN = 'STARTER';
/** Every payment with it succeeds. */
const GOOD_CARD = '4242424242424242';
const POLL_MS = 200;
const TIMEOUT_MS = 20_000;

const checkoutSchema = z.object({ url: z.url() });
const statusSchema = z.object({ plan: z.string() });

/**
 * Buys a plan as a person would: checkout, the payment page, and the wait for the payment processor's word.
 *
 * @throws Error where the page is not the local payment processor's: nothing real is bought
 */
export const buyPlan = async (url: string, token: string): Promise<void> => {
  const checkout = await callApi(`${url}/api/billing/checkout`, checkoutSchema, token, { plan: PLAN });
  if (!['127.0.0.1', 'localhost'].includes(new URL(checkout.url).hostname)) {
    throw new Error('Seed data needs the local payment processor: unset STRIPE_SECRET_KEY.');
  }
  await fetch(checkout.url, { method: 'POST', body: new URLSearchParams({ card: GOOD_CARD }), redirect: 'manual' });
  const deadline = Date.now() + TIMEOUT_MS;
  while ((await callApi(`${url}/api/billing/status`, statusSchema, token)).plan !== PLAN) {
    if (Date.now() > deadline) throw new Error(`The plan is not ${PLAN} after ${TIMEOUT_MS / 1000} s.`);
    await delay(POLL_MS);
  }
};
