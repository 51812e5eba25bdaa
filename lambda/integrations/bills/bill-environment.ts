import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import type { BilledProvider } from '../../domain/reconciliation/billed-providers.ts';
import type { BillEnvironment } from '../../environment.ts';
import { openBillCredentials } from './bill-credentials.ts';
import { openBillSource } from './bill-sources.ts';

const origins = z.pipe(
  z.string(),
  z.transform((json) => new Map(Object.entries(z.record(z.string(), z.url()).parse(JSON.parse(json))))),
);

/** Environment variables of functions that read bills. Parsed once, in the entry. */
export const billEnvironment = z.object({
  BILL_SECRET_PREFIX: z.string().check(z.minLength(1)),
  UPSTREAM_ORIGINS: origins,
} satisfies Record<keyof BillEnvironment, z.ZodMiniType>);

export const openBillAccess = (environment: z.infer<typeof billEnvironment>) => ({
  credentials: openBillCredentials(new SecretsManagerClient({ maxAttempts: 2 }), environment.BILL_SECRET_PREFIX),
  sourceOf: (provider: BilledProvider) => openBillSource(provider, environment.UPSTREAM_ORIGINS),
});
