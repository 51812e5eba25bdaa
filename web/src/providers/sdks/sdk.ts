export interface Access {
  /** The provider's gateway address, without a slash at the end. */
  readonly url: string;
  readonly serviceKey: string;
  /** The provider's API key, where it is not taken from the environment. */
  readonly anyCredential: boolean;
}

/** How one provider is called. Code lines that begin with `+ ` are new compared with calling the provider itself. */
export interface Sdk {
  /** Appended to the gateway address. */
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
