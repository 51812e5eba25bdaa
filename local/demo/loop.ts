import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callApi } from '../call-api.ts';
import type { DemoCall } from './calls.ts';
import type { MakeCall } from './clients.ts';

const TAG = 'loop';
const AMOUNT_USD = 0.1;
const budgetSchema = z.object({ id: z.string(), amount: z.number(), state: z.object({ usedNanoUsd: z.number() }) });

/** Creates a budget for the tag of the loop. Before the first request of a key, so that the gateway knows of it at once. */
export const createLoopBudget = (url: string, token: string): Promise<z.infer<typeof budgetSchema>> =>
  callApi(`${url}/api/budgets`, budgetSchema, token, {
    name: 'Loop',
    amount: AMOUNT_USD,
    period: 'daily',
    filter: { tag: TAG },
    block: {},
  });

export const readBudget = (url: string, token: string, id: string): Promise<z.infer<typeof budgetSchema>> =>
  callApi(`${url}/api/budgets/${id}`, budgetSchema, token);

/** About $0.01. */
const call: DemoCall = {
  ...{ method: 'openai-chat', provider: 'openai', model: 'gpt-4.1', tag: TAG, stream: false },
  ...{ inputTokens: 4_000, outputTokens: 250 },
};
const MAX_CALLS = 120;
const PAUSE_MS = 250;

/**
 * An agent that never stops: makes the same call again and again.
 *
 * @returns how many calls passed until one was refused, and the refusal; null where all passed
 */
export const runLoop = async (
  makeCall: MakeCall,
  interruption: AbortSignal,
): Promise<{ readonly passed: number; readonly refusal: string | null }> => {
  for (let passed = 0; passed < MAX_CALLS; passed++) {
    try {
      await makeCall(call);
    } catch (error) {
      if ((error as { status?: number }).status !== 429) throw error;
      return { passed, refusal: (error as Error).message };
    }
    await delay(PAUSE_MS, undefined, { signal: interruption });
  }
  return { passed: MAX_CALLS, refusal: null };
};
