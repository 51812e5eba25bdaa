export interface Access {
  /** The provider's gateway URL, without a trailing slash. */
  readonly url: string;
  readonly serviceKey: string;
  /** True where any provider credential works (mock providers); otherwise the code reads it from the environment. */
  readonly anyCredential: boolean;
}

/** How to call one provider. Lines that begin with `+ ` are those that a direct call to the provider does not have. */
export interface Sdk {
  /** Appended to the gateway URL. */
  readonly path: string;
  readonly environment: string;
  readonly model: string;
  readonly python: (access: Client) => string;
  readonly node: (access: Client) => string;
  readonly curl: (access: Client) => string;
}

export interface Client extends Access {
  readonly base: string;
  readonly environment: string;
  readonly model: string;
}

export const HEADER = 'X-Service-Key';
export const PROMPT = 'Say hello.';

export const pythonKey = ({ anyCredential, environment }: Client) =>
  anyCredential ? '"any"' : `os.environ["${environment}"]`;
export const nodeKey = ({ anyCredential, environment }: Client) =>
  anyCredential ? "'any'" : `process.env.${environment}`;
export const shellKey = ({ anyCredential, environment }: Client) => (anyCredential ? 'any' : `$${environment}`);
