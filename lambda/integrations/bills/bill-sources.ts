import { type ProviderLabel, providerByLabel } from '../../domain/providers.ts';
import { anthropicBill } from './anthropic.ts';
import type { BillSource } from './bill-source.ts';
import { openaiBill } from './openai.ts';
import { openrouterBill } from './openrouter.ts';

/** Providers whose bill can be read with a credential. All others take imports only. */
const sources = {
  openai: openaiBill,
  anthropic: anthropicBill,
  openrouter: openrouterBill,
} as const satisfies Partial<Record<ProviderLabel, (origin: string) => BillSource>>;

export type BilledProvider = keyof typeof sources;
export const billedProviders = Object.keys(sources) as [BilledProvider, ...BilledProvider[]];

/** @param origins other origins than the providers' own, by label */
export const openBillSource = (
  provider: BilledProvider,
  origins: ReadonlyMap<string, string> = new Map(),
): BillSource => sources[provider](origins.get(provider) ?? (providerByLabel(provider)?.origin as string));
