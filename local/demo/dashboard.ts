import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callApi } from '../call-api.ts';
import type { Group } from './expectation.ts';

const sessionSchema = z.object({ accountId: z.string(), token: z.string() });

const sums = {
  requests: z.number(),
  costNanoUsd: z.number().nullable(),
  unpricedRequests: z.number(),
  freeRequests: z.number(),
  errors: z.number(),
  tokens: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
};

const spendSchema = z.object({
  totals: z.object({ ...sums, unfinishedRequests: z.number(), bypassedRequests: z.number() }),
  groups: z.array(
    z.object({ provider: z.string(), model: z.string().nullable(), tag: z.string().nullable(), ...sums }),
  ),
});

export type Spend = z.infer<typeof spendSchema>;

const POLL_MS = 100;
const FINISH_TIMEOUT_MS = 30_000;

/** Registers an account over the dashboard API. */
export const register = (url: string): Promise<z.infer<typeof sessionSchema>> =>
  callApi(`${url}/api/auth/register`, sessionSchema, undefined, {
    email: 'ada@example.com',
    password: 'Correct-Horse-7-Battery',
    firstName: 'Ada',
    lastName: 'Lovelace',
    companyName: 'Analytical Engines',
  });

/** Spend by provider, model and tag, once that many requests are recorded and finished. */
export const finishedSpend = async (
  url: string,
  token: string,
  requests: number,
  interruption: AbortSignal,
): Promise<Spend> => {
  const deadline = Date.now() + FINISH_TIMEOUT_MS;
  for (;;) {
    const spend = await callApi(`${url}/api/spend?groupBy=provider&groupBy=model&groupBy=tag`, spendSchema, token);
    const { totals } = spend;
    if ((totals.requests >= requests && totals.unfinishedRequests === 0) || Date.now() > deadline) return spend;
    await delay(POLL_MS, undefined, { signal: interruption });
  }
};

/** The report's groups in the form of the expectation. An unknown cost counts as 0 here; `unpricedRequests` counts it. */
export const groupsOf = ({ groups }: Spend): Group[] =>
  groups.map(({ tokens, costNanoUsd, ...group }) => ({ ...group, ...tokens, costNanoUsd: costNanoUsd ?? 0 }));
