/** What the gateway must know to forward to one provider. */
export interface Provider {
  /** First label of the gateway host: `{label}.{gateway_domain}`. */
  readonly label: string;
  /** Upstream origin, scheme and host and (where it is not the default) port. */
  readonly origin: string;
  /** Put in front of the forwarded path unless the path already begins with it. Pins the client to the provider's API. */
  readonly prefix: string;
}

const rows = [
  { label: 'openai', origin: 'https://api.openai.com', prefix: '' },
  { label: 'anthropic', origin: 'https://api.anthropic.com', prefix: '' },
  { label: 'google', origin: 'https://generativelanguage.googleapis.com', prefix: '' },
  { label: 'mistral', origin: 'https://api.mistral.ai', prefix: '' },
  { label: 'cohere', origin: 'https://api.cohere.com', prefix: '' },
  { label: 'groq', origin: 'https://api.groq.com', prefix: '' },
  { label: 'together', origin: 'https://api.together.xyz', prefix: '' },
  { label: 'fireworks', origin: 'https://api.fireworks.ai', prefix: '' },
  { label: 'deepseek', origin: 'https://api.deepseek.com', prefix: '' },
  { label: 'xai', origin: 'https://api.x.ai', prefix: '' },
  { label: 'perplexity', origin: 'https://api.perplexity.ai', prefix: '' },
  { label: 'openrouter', origin: 'https://openrouter.ai', prefix: '/api' },
] as const satisfies readonly Provider[];

export type ProviderLabel = (typeof rows)[number]['label'];

/** The supported providers, in the order of the documentation. Adding a provider is adding a row. */
export const providers: readonly (Provider & { readonly label: ProviderLabel })[] = rows;

export const providerLabels = rows.map((row) => row.label) as [ProviderLabel, ...ProviderLabel[]];

const byLabel = new Map<string, Provider & { readonly label: ProviderLabel }>(rows.map((row) => [row.label, row]));

/** The provider a gateway label names, or undefined. Labels are compared in lower case, as host names are. */
export const providerByLabel = (label: string) => byLabel.get(label.toLowerCase());
