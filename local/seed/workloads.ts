import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import type { Dialect } from '../../lambda/domain/usage/dialect.ts';
import type { UsageShape } from './usage-shapes.ts';
import rows from './workloads.json' with { type: 'json' };

/** When in a day (UTC) calls come: 24 weights. */
const hours = {
  office: [0, 0, 0, 0, 0, 0, 1, 3, 7, 10, 10, 8, 6, 9, 10, 9, 8, 5, 3, 2, 1, 1, 0, 0],
  round: [3, 2, 2, 2, 2, 3, 4, 6, 8, 9, 9, 9, 8, 9, 9, 9, 8, 8, 7, 6, 6, 5, 4, 4],
  night: [0, 8, 14, 10, 2, ...Array.from({ length: 19 }, () => 0)],
};

/** One kind of call that a made-up company sends. */
export interface Workload {
  readonly tag: string | null;
  /** The program that sends it, where the gateway recognizes one. */
  readonly client?: string;
  /** It sends session ids, and starts agents. */
  readonly hasSessions?: boolean;
  /** By the account's second service key. */
  readonly batchKey?: true;
  /** Distinguished by the fingerprint of the provider's credential. */
  readonly providerKey: string;
  readonly provider: ProviderLabel;
  readonly model: string;
  readonly method?: 'GET';
  readonly path: string;
  readonly dialect: Dialect;
  readonly shape: UsageShape | null;
  readonly hours: readonly number[];
  /** Calls on a weekday; on others this share of them. */
  readonly perDay: number;
  readonly weekend: number;
  readonly input: number;
  readonly cachedShare?: number;
  readonly output: number;
  readonly reasoningShare?: number;
  readonly streamed?: true;
  /** In use for this number of days; without it all along. */
  readonly sinceDays?: number;
}

/**
 * All that the made-up company sends, day by day: production, and trials of providers with little use. Its own model `support-v2` has no
 * list price: its cost stays unknown.
 */
export const workloads: readonly Workload[] = rows.map(
  (row) => ({ ...row, hours: hours[row.hours as keyof typeof hours] }) as Workload,
);

/** An agent that called itself for some hours, so that there is something for rules to find. */
export const runaway = {
  daysAgo: 9,
  hours: [13, 14, 15],
  callsPerHour: 20,
  workload: {
    tag: 'extraction',
    batchKey: true,
    providerKey: 'openai-batch',
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/chat/completions',
    dialect: 'openai-chat',
    shape: 'openAi',
    hours: [],
    perDay: 0,
    weekend: 0,
    input: 137_000,
    output: 3_400,
  } satisfies Workload,
} as const;
