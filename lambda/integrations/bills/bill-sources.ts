import { providerByLabel } from '../../domain/providers.ts';
import type { BilledProvider } from '../../domain/reconciliation/billed-providers.ts';
import { anthropicBill } from './anthropic.ts';
import type { BillSource } from './bill-source.ts';
import { openaiBill } from './openai.ts';
import { openrouterBill } from './openrouter.ts';

const sources: Readonly<Record<BilledProvider, (origin: string) => BillSource>> = {
  openai: openaiBill,
  anthropic: anthropicBill,
  openrouter: openrouterBill,
};

/** @param origins other origins than the providers' own, by label */
export const openBillSource = (provider: BilledProvider, origins: ReadonlyMap<string, string>): BillSource =>
  sources[provider](origins.get(provider) ?? (providerByLabel(provider)?.origin as string));
