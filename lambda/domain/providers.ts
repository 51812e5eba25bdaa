export interface Provider {
  /** First label of the gateway host: `{label}.{gateway_domain}`. */
  readonly label: string;
  /** As the provider writes it. */
  readonly name: string;
  /** Upstream origin: scheme, host and (unless it is the default) port. */
  readonly origin: string;
  /**
   * Put in front of the forwarded path unless the path already begins with it. It does not confine paths: dots behind it (`/../x`)
   * are forwarded unchanged.
   */
  readonly prefix?: string;
  /**
   * True where OpenAI-style chat streams have usage only when `stream_options.include_usage` asks for it, and the provider is known
   * to accept the option. The other providers send usage anyway, or might refuse the option.
   */
  readonly needsStreamUsageOption?: boolean;
  /** Its ids in the sources of prices. `openrouter`: vendor prefix of its models at OpenRouter, null where it has none. */
  readonly priceIds: {
    readonly genaiPrices: string;
    readonly modelsDev: string;
    readonly openrouter: string | null;
  };
  /** Headers of its responses that have usage, in lower case. */
  readonly usageHeaders?: readonly string[];
  /** Only a cloud has it. */
  readonly hostOf?: undefined;
}

/**
 * A cloud that offers models, which an operator may add. It has a host for each resource or region: the first segment of the client's path
 * names it.
 */
export interface Cloud extends Omit<Provider, 'origin' | 'prefix' | 'needsStreamUsageOption' | 'hostOf'> {
  /** Paths with queries whose API is known to accept `stream_options.include_usage`; null where none is. */
  readonly streamUsageTargets: RegExp | null;
  /** A header that may have the credential, as well as those of all providers. */
  readonly credentialHeader?: string;
  /**
   * The host, null where the text is no resource or region. It checks the text by a strict pattern, since a client chose it.
   *
   * @param place the first segment of the path
   * @param path the rest of it
   */
  readonly hostOf: (place: string, path: string) => string | null;
}

/** The supported providers, in the order of the documentation. A new row adds a provider: what else it needs does not compile or fails a test. */
const rows = [
  {
    label: 'openai',
    name: 'OpenAI',
    origin: 'https://api.openai.com',
    needsStreamUsageOption: true,
    priceIds: { genaiPrices: 'openai', modelsDev: 'openai', openrouter: 'openai' },
  },
  {
    label: 'anthropic',
    name: 'Anthropic',
    origin: 'https://api.anthropic.com',
    priceIds: { genaiPrices: 'anthropic', modelsDev: 'anthropic', openrouter: 'anthropic' },
  },
  {
    label: 'google',
    name: 'Google Gemini',
    origin: 'https://generativelanguage.googleapis.com',
    needsStreamUsageOption: true,
    priceIds: { genaiPrices: 'google', modelsDev: 'google', openrouter: 'google' },
    // The tier that served: priority falls back to standard. https://ai.google.dev/gemini-api/docs/priority-inference
    usageHeaders: ['x-gemini-service-tier'],
  },
  {
    label: 'mistral',
    name: 'Mistral',
    origin: 'https://api.mistral.ai',
    priceIds: { genaiPrices: 'mistral', modelsDev: 'mistral', openrouter: 'mistralai' },
  },
  {
    label: 'cohere',
    name: 'Cohere',
    origin: 'https://api.cohere.com',
    priceIds: { genaiPrices: 'cohere', modelsDev: 'cohere', openrouter: 'cohere' },
  },
  {
    label: 'groq',
    name: 'Groq',
    origin: 'https://api.groq.com',
    needsStreamUsageOption: true,
    priceIds: { genaiPrices: 'groq', modelsDev: 'groq', openrouter: null },
  },
  {
    label: 'together',
    name: 'Together AI',
    origin: 'https://api.together.xyz',
    priceIds: { genaiPrices: 'together', modelsDev: 'togetherai', openrouter: null },
  },
  {
    label: 'fireworks',
    name: 'Fireworks',
    origin: 'https://api.fireworks.ai',
    priceIds: { genaiPrices: 'fireworks', modelsDev: 'fireworks-ai', openrouter: null },
    usageHeaders: ['fireworks-cached-prompt-tokens'],
  },
  {
    label: 'deepseek',
    name: 'DeepSeek',
    origin: 'https://api.deepseek.com',
    priceIds: { genaiPrices: 'deepseek', modelsDev: 'deepseek', openrouter: 'deepseek' },
  },
  {
    label: 'xai',
    name: 'xAI',
    origin: 'https://api.x.ai',
    needsStreamUsageOption: true,
    priceIds: { genaiPrices: 'x-ai', modelsDev: 'xai', openrouter: 'x-ai' },
  },
  {
    label: 'perplexity',
    name: 'Perplexity',
    origin: 'https://api.perplexity.ai',
    priceIds: { genaiPrices: 'perplexity', modelsDev: 'perplexity', openrouter: 'perplexity' },
  },
  {
    label: 'openrouter',
    name: 'OpenRouter',
    origin: 'https://openrouter.ai',
    prefix: '/api',
    priceIds: { genaiPrices: 'openrouter', modelsDev: 'openrouter', openrouter: null },
  },
] as const satisfies readonly Provider[];

export type ProviderLabel = (typeof rows)[number]['label'];

export const providers: readonly (Provider & { readonly label: ProviderLabel })[] = rows;

export const providerLabels = rows.map((row) => row.label) as [ProviderLabel, ...ProviderLabel[]];

const byLabel = new Map<string, Provider & { readonly label: ProviderLabel }>(rows.map((row) => [row.label, row]));

/** The provider of a gateway label, or undefined. Labels are compared in lower case, as host names are. */
export const providerByLabel = (label: string) => byLabel.get(label.toLowerCase());
