import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { MINUTE_MS } from '../../lambda/domain/calendar/units.ts';

const TIMEOUT_MS = 15_000;

/** @throws Error that names the address, without its query */
export const askJson = async (url: string, init: RequestInit = {}) => {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, json };
  } catch (error) {
    const cause = (error as Error).cause;
    throw new Error(`${url.split('?')[0]}: ${cause instanceof Error ? cause.message : (error as Error).message}`);
  }
};

const POLL_MS = 500;

/** Asks again and again until the response is what was waited for, or the time is over. @returns the last response */
export const askUntil = async (
  url: string,
  token: string,
  waitMs: number,
  isAwaited: (response: Awaited<ReturnType<typeof askJson>>) => boolean,
) => {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const response = await askJson(url, { headers: { Authorization: `Bearer ${token}` } });
    if (isAwaited(response) || Date.now() > deadline) return response;
    await sleep(POLL_MS);
  }
};

/** An account made for this, by POST /auth/register. */
export const canarySchema = z.object({
  CANARY_SERVICE_KEY: z.string().min(1),
  CANARY_EMAIL: z.string().min(1),
  CANARY_PASSWORD: z.string().min(1),
});

export interface SmokeTarget {
  /** Labels of the gateway hosts. */
  readonly labels: readonly string[];
  readonly gatewayUrl: (label: string) => string;
  /** Ends in /api. */
  readonly dashboardUrl: string;
}

/** The name of a check, and what is wrong; null if nothing is. */
export type CheckResult = readonly [name: string, problem: string | null];

const RECORD_WAIT_MS = MINUTE_MS;

/** A new execution environment has no connection to the queue yet: only its first request may be bypassed. */
const GOVERNED_TRIES = 3;

const checked = async (name: string, check: () => Promise<string | null>): Promise<CheckResult> => {
  try {
    return [name, await check()];
  } catch (error) {
    return [name, (error as Error).message];
  }
};

const isHealthy = z.object({ status: z.literal('ok') });

/** `/health` of every gateway host, and that the dashboard API is there and wants a token. */
export const checkHosts = ({ labels, gatewayUrl, dashboardUrl }: SmokeTarget): Promise<CheckResult[]> =>
  Promise.all([
    ...labels.map((label) =>
      checked(`health of ${label}`, async () => {
        const { status, json } = await askJson(`${gatewayUrl(label)}/health`);
        return status === 200 && isHealthy.safeParse(json).success ? null : `responded ${status}`;
      }),
    ),
    checked('dashboard API', async () => {
      const { status } = await askJson(`${dashboardUrl}/spend`);
      return status === 401 ? null : `responded ${status} without a token, not 401`;
    }),
  ]);

/**
 * A request of the canary account, from its service key to its record. The provider's credential is none, so that the provider
 * refuses it: that costs nothing, and shows that its response comes through.
 */
export const checkCanary = async (
  { gatewayUrl, dashboardUrl }: SmokeTarget,
  { CANARY_SERVICE_KEY: serviceKey, CANARY_EMAIL: email, CANARY_PASSWORD: password }: z.output<typeof canarySchema>,
): Promise<CheckResult[]> => {
  let requestId: string | null = null;
  const relayed = await checked('canary: request through the gateway', async () => {
    for (let tries = 1; ; tries++) {
      const { status, headers } = await askJson(`${gatewayUrl('openai')}/v1/models`, {
        headers: { 'X-Service-Key': serviceKey, 'X-Service-Tag': 'canary', Authorization: 'Bearer canary' },
      });
      requestId = headers.get('x-service-request-id');
      const route = headers.get('x-service-route');
      if (route === 'governed') return status < 500 ? null : `responded ${status}`;
      if (route !== 'bypassed' || tries === GOVERNED_TRIES)
        return `responded ${status}, and the route is ${route ?? 'none'}`;
    }
  });
  if (requestId === null) return [relayed];
  const recorded = await checked('canary: its record', async () => {
    const login = await askJson(`${dashboardUrl}/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { success, data } = z.object({ token: z.string() }).safeParse(login.json);
    if (!success) return `login responded ${login.status}`;
    const url = `${dashboardUrl}/requests/${requestId}`;
    const { status } = await askUntil(url, data.token, RECORD_WAIT_MS, (response) => response.status !== 404);
    return status === 200 ? null : `GET /requests/{id} responded ${status}`;
  });
  return [relayed, recorded];
};
