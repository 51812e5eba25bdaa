import { type ProviderLabel, providerLabels } from '../../../lambda/domain/providers.ts';

export interface ReconciliationSearch {
  readonly provider?: ProviderLabel | undefined;
  /** First and last day, UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const isDay = (value: unknown): value is string => /^\d{4}-\d\d-\d\d$/.test(String(value));

export const reconciliationSearch = ({ provider, from, to }: Record<string, unknown>): ReconciliationSearch => ({
  provider: providerLabels.find((label) => label === provider),
  ...(isDay(from) && { from }),
  ...(isDay(to) && { to }),
});
