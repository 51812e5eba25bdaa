import { hostName } from '../../../lambda/domain/hosts.ts';
import { providers } from '../../../lambda/domain/providers.ts';

export { hostName as providerName };

export const providerChoices = providers.map(({ label, name }) => ({ value: label, label: name }));

const kinds: Readonly<Record<string, string>> = {
  cacheRead: 'Cache read',
  cacheWrite: 'Cache write',
  cacheWrite1h: 'Cache write, 1 h',
  cacheWrite12h: 'Cache write, 12 h',
  cacheReadAudio: 'Cached audio',
  cacheReadImage: 'Cached images',
  inputAudio: 'Audio in',
  outputAudio: 'Audio out',
  inputImage: 'Images in',
  outputImage: 'Images out',
  inputVideo: 'Video in',
  outputVideo: 'Video out',
};

/** A kind of tokens or units in words: `Cache read`, `Web searches`. */
export const kindName = (kind: string): string => {
  const words = kind.replace(/([A-Z])/g, ' $1').toLowerCase();
  return kinds[kind] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

/** Kinds of tokens are singular, or end in `Tokens`; other units, such as `webSearches`, are plural. */
export const isTokenKind = (kind: string): boolean => !/s$/.test(kind) || kind.endsWith('Tokens');
