import type { Day } from '../calendar/utc.ts';
import { modelNames } from '../price/model-names.ts';
import type { ProviderLabel } from '../providers.ts';

/** Providers whose bill can be read with a credential. All others take imports only. */
export const billedProviders = ['openai', 'anthropic', 'openrouter'] as const satisfies readonly ProviderLabel[];
export type BilledProvider = (typeof billedProviders)[number];

/** Tokens of requests, each in exactly one kind. */
export interface BilledTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** One line of a provider's bill for one day, UTC. */
export interface BillLine {
  readonly day: Day;
  /** Charged item, in the provider's words. */
  readonly item: string;
  /** Null for a fee, a credit, or an item that names no model. */
  readonly model: string | null;
  /** Below 0 for a credit. */
  readonly amountNanoUsd: number;
}

/** The provider's counts for one model on one day. Invoices do not have it. */
export interface BilledUsage {
  readonly day: Day;
  readonly model: string;
  readonly tokens: BilledTokens;
  /** Null where the provider does not count requests. */
  readonly requests: number | null;
}

export interface Bill {
  readonly lines: readonly BillLine[];
  readonly usage: readonly BilledUsage[];
}

/** The ledger's sums of one model on one day. */
export interface RecordedUsage {
  readonly day: Day;
  readonly model: string | null;
  /** The provider is paid effective prices without markups. Requests of unknown cost add nothing. */
  readonly costNanoUsd: number;
  readonly requests: number;
  readonly unpricedRequests: number;
  readonly tokens: BilledTokens;
}

/** The name that a bill's model and a recorded one share: lower case, without version and route. */
export const billedModel = (model: string): string => {
  const names = modelNames(model);
  return names.at(-1) ?? model;
};
