import type { ProviderLabel } from '../providers.ts';

/** Providers whose bill can be read with a credential. All others take imports only. */
export const billedProviders = ['openai', 'anthropic', 'openrouter'] as const satisfies readonly ProviderLabel[];
export type BilledProvider = (typeof billedProviders)[number];
