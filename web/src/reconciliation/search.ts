import { providerLabels } from '../../../lambda/domain/providers.ts';
import { oneOf, searchOf } from '../search.ts';

const day = (value: unknown): string | undefined =>
  /^\d{4}-\d\d-\d\d$/.test(String(value)) ? String(value) : undefined;

/** The provider, and the first and last day (UTC) of its bill. */
export const reconciliationSearch = searchOf({ provider: oneOf(providerLabels), from: day, to: day });

export type ReconciliationSearch = ReturnType<typeof reconciliationSearch>;
