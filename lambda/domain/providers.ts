/** What the gateway must know to forward to one provider. */
export interface Provider {
  /** First label of the gateway host: `{label}.{gateway_domain}`. */
  readonly label: string;
  /** Upstream origin, scheme and host and (where it is not the default) port. */
  readonly origin: string;
  /**
   * Put in front of the forwarded path unless the path already begins with it. No fence: dots behind it (`/../x`) are
   * forwarded as they are, and what they mean is the provider's to say.
   */
  readonly prefix: string;
  /**
   * OpenAI-style chat streams of this provider tell usage only when `stream_options.include_usage` asks for it, and the
   * provider is known to accept the option. The others tell it unasked, or might refuse the option.
   */
  readonly tellsStreamUsageWhenAsked: boolean;
}

const rows = [
  { label: 'openai', origin: 'https://api.openai.com', prefix: '', tellsStreamUsageWhenAsked: true },
  { label: 'anthropic', origin: 'https://api.anthropic.com', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'google', origin: 'https://generativelanguage.googleapis.com', prefix: '', tellsStreamUsageWhenAsked: true },
  { label: 'mistral', origin: 'https://api.mistral.ai', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'cohere', origin: 'https://api.cohere.com', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'groq', origin: 'https://api.groq.com', prefix: '', tellsStreamUsageWhenAsked: true },
  { label: 'together', origin: 'https://api.together.xyz', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'fireworks', origin: 'https://api.fireworks.ai', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'deepseek', origin: 'https://api.deepseek.com', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'xai', origin: 'https://api.x.ai', prefix: '', tellsStreamUsageWhenAsked: true },
  { label: 'perplexity', origin: 'https://api.perplexity.ai', prefix: '', tellsStreamUsageWhenAsked: false },
  { label: 'openrouter', origin: 'https://openrouter.ai', prefix: '/api', tellsStreamUsageWhenAsked: false },
] as const satisfies readonly Provider[];

export type ProviderLabel = (typeof rows)[number]['label'];

/** The supported providers, in the order of the documentation. Adding a provider is adding a row. */
export const providers: readonly (Provider & { readonly label: ProviderLabel })[] = rows;

export const providerLabels = rows.map((row) => row.label) as [ProviderLabel, ...ProviderLabel[]];

const byLabel = new Map<string, Provider & { readonly label: ProviderLabel }>(rows.map((row) => [row.label, row]));

/** The provider a gateway label names, or undefined. Labels are compared in lower case, as host names are. */
export const providerByLabel = (label: string) => byLabel.get(label.toLowerCase());
