import { providerByLabel, providers } from '../../../lambda/domain/providers.ts';

/** The provider's name; a label that these pages do not know yet is its own name. */
export const providerName = (label: string): string => providerByLabel(label)?.name ?? label;

/** The providers as a select shows them. */
export const providerChoices = providers.map(({ label, name }) => ({ value: label, label: name }));
