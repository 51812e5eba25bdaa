import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { providers } from './providers.ts';
import type { Access } from './sdks/sdk.ts';

export const languages = ['python', 'node', 'curl'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = { python: 'Python', node: 'Node.js', curl: 'curl' };

export interface SnippetLine {
  readonly text: string;
  /** True where calling the provider directly does not have this line. */
  readonly isNew: boolean;
}

/** Marks the new lines in an SDK's code. */
const NEW = '+ ';

/** A call through the gateway, line by line; new lines are marked. */
export const snippet = (provider: ProviderLabel, language: Language, access: Access): readonly SnippetLine[] => {
  const { path, environment, model, ...write } = providers[provider].sdk;
  const code = write[language]({ ...access, base: `${access.url}${path}`, environment, model });
  return code
    .trim()
    .split('\n')
    .filter((line) => !(access.anyCredential && line === 'import os'))
    .map((line) =>
      line.startsWith(NEW) ? { text: line.slice(NEW.length), isNew: true } : { text: line, isNew: false },
    );
};
