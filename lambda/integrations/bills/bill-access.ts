import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod/mini';
import type { BilledProvider } from '../../domain/reconciliation/billed-providers.ts';
import type { billEnvironment } from '../../environment.ts';
import { openBillCredentials } from './bill-credentials.ts';
import { openBillSource } from './bill-sources.ts';

/** The credentials and sources of providers' bills. */
export const openBillAccess = (environment: z.infer<typeof billEnvironment>) => ({
  credentials: openBillCredentials(new SecretsManagerClient({ maxAttempts: 2 }), environment.BILL_SECRET_PREFIX),
  sourceOf: (provider: BilledProvider) => openBillSource(provider, environment.UPSTREAM_ORIGINS),
});
