import type { Pause } from '../api/responses.ts';
import { providerName } from '../providers/names.ts';
import type { KeyNames } from '../spend/groups.ts';

const words = { tag: 'tag', key: 'service key', project: 'project', session: 'session', client: 'client' } as const;

/** What a pause refuses, in words: `requests of tag batch`. */
export const pausedText = ({ scope }: Pause, keyNames: KeyNames): string => {
  const { provider, model, ...others } = scope;
  const named = (Object.entries(words) as [keyof typeof words, string][]).flatMap(([name, word]) => {
    const value = others[name];
    return value === undefined ? [] : [`${word} ${keyNames.get(value) ?? value}`];
  });
  return `requests of ${[provider && providerName(provider), model, ...named].filter(Boolean).join(', ')}`;
};
