/** Where a client of the matrix finds the provider: the provider itself, or the gateway. */
export interface Target {
  /** The URL that takes the place of the provider's origin, without a trailing slash. */
  readonly base: (label: string) => string;
  /** The same with the service key in it, for clients that cannot send a header; the provider itself when called directly. */
  readonly keyedBase: (label: string) => string;
  readonly serviceKey: string;
  /** An empty folder: the client's home and working folder. */
  readonly home: string;
  /** Where the client's packages are installed. */
  readonly packagesDir: string;
}

interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files to write first, by their path below the home. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Client {
  readonly name: string;
  /** How it brings the service key. */
  readonly attaches: 'header' | 'path' | 'credential';
  /** The folder of its packages, below the cache. */
  readonly folder?: string;
  /** Packages of the npm registry, with their versions. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Packages of Python's index; the client is left out where they cannot be had. */
  readonly pythonPackages?: Readonly<Record<string, string>>;
  /** False where nothing that it sends says who it is, or what it is built on. */
  readonly isRecognizable?: false;
  readonly run: (target: Target) => Run;
}

/** The place that a cloud's base URL has in front of the path. */
export const places: Readonly<Record<string, string>> = { bedrock: '/us-east-1', vertex: '/us-east5' };

/** The mock provider bills what the prompt orders. */
export const PROMPT = 'Say hello. [in 1200, out 34]';
/** The same, and the response starts two agents. */
export const AGENTS_PROMPT = `${PROMPT} [agents 2]`;
