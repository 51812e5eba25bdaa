import type { RequestSummary } from '../api/responses.ts';

type Outcome = RequestSummary['outcome'];
type Provenance = RequestSummary['provenance'];

export const outcomeNames: Readonly<Record<Outcome, string>> = {
  completed: 'Completed',
  client_aborted: 'Client disconnected',
  upstream_aborted: 'Interrupted',
  unreachable: 'Unreachable',
  refused: 'Refused',
  unknown: 'Unfinished',
};

export const provenanceNames: Readonly<Record<Provenance, string>> = {
  provider: 'Reported by the provider',
  computed: 'Computed from usage',
  estimated: 'Estimated',
  free: 'Free of charge',
  unknown: 'Unknown',
};

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

/** Kinds of tokens are singular; other units, such as `webSearches`, are plural. */
export const isTokenKind = (kind: string): boolean => !/s$/.test(kind) || kind === 'cacheWrites';
