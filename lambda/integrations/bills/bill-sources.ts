import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod/mini';
import { providerByLabel } from '../../domain/providers.ts';
import type { BilledProvider } from '../../domain/reconciliation/bill.ts';
import type { billEnvironment } from '../../environment.ts';
import { anthropicBill } from './anthropic.ts';
import { openBillCredentials } from './bill-credentials.ts';
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

/** The credentials and sources of providers' bills. */
export const openBillAccess = (environment: z.infer<typeof billEnvironment>) => ({
  credentials: openBillCredentials(new SecretsManagerClient({ maxAttempts: 2 }), environment.BILL_SECRET_PREFIX),
  sourceOf: (provider: BilledProvider) => openBillSource(provider, environment.UPSTREAM_ORIGINS),
});
