import { type Cloud, type Provider, type ProviderLabel, providers } from './providers.ts';

/*
 * The hosts that an operator may add to the twelve: clouds, and own servers. Each is at one of a few shapes of addresses, and nothing that a
 * client sends chooses a host outside them.
 */

const RESOURCE = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;
/** `us-east-1`, `us-gov-west-1`. A looser one would reach other services of AWS: `s3` in its place names a bucket. */
const AWS_REGION = /^[a-z]{2}(-[a-z]{3,12}){1,2}-\d{1,2}$/;
/** `us-central1`, `northamerica-northeast1`. */
const GOOGLE_REGION = /^[a-z]{2,14}-[a-z]{4,12}\d{1,2}$/;

/** Regions of Vertex AI with hosts of another form. @see https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations */
const wideRegions: ReadonlyMap<string, string> = new Map([
  ['global', 'aiplatform.googleapis.com'],
  ['us', 'aiplatform.us.rep.googleapis.com'],
  ['eu', 'aiplatform.eu.rep.googleapis.com'],
]);

const cloudRows = [
  {
    label: 'azure',
    name: 'Azure OpenAI',
    streamUsageTargets: /^\/openai\/(v1\/|.*[?&]api-version=(202[5-9]|2024-(09|1)))/,
    priceIds: { genaiPrices: 'azure', modelsDev: 'azure', openrouter: null },
    credentialHeader: 'api-key',
    // A resource of Azure OpenAI has the first host alone, one of Foundry has both.
    hostOf: (resource, path) =>
      RESOURCE.test(resource)
        ? `${resource}.${/^\/openai(?![^/?])/.test(path) ? 'openai.azure.com' : 'services.ai.azure.com'}`
        : null,
  },
  {
    label: 'bedrock',
    name: 'Amazon Bedrock',
    streamUsageTargets: null,
    priceIds: { genaiPrices: 'aws', modelsDev: 'amazon-bedrock', openrouter: null },
    usageHeaders: [
      ...['input', 'output', 'cache-read-input', 'cache-write-input'].map((kind) => `${kind}-token-count`),
      'performanceconfig-latency',
      'service-tier',
    ].map((name) => `x-amzn-bedrock-${name}`),
    hostOf: (region) => (AWS_REGION.test(region) ? `bedrock-runtime.${region}.amazonaws.com` : null),
  },
  {
    label: 'vertex',
    name: 'Vertex AI',
    streamUsageTargets: null,
    priceIds: { genaiPrices: 'google', modelsDev: 'google-vertex', openrouter: null },
    hostOf: (region) =>
      wideRegions.get(region) ?? (GOOGLE_REGION.test(region) ? `${region}-aiplatform.googleapis.com` : null),
  },
] as const satisfies readonly Cloud[];

export type CloudLabel = (typeof cloudRows)[number]['label'];

const clouds: readonly (Cloud & { readonly label: CloudLabel })[] = cloudRows;

export const cloudLabels = cloudRows.map(({ label }) => label) as [CloudLabel, ...CloudLabel[]];

export const isCloudLabel = (label: string): label is CloudLabel => clouds.some((cloud) => cloud.label === label);

/** Label of a gateway host. Those of own servers begin with `own-`, so that none is ever a provider's. */
export type HostLabel = ProviderLabel | CloudLabel | `own-${string}`;

/** The rest of such a label. */
export const OWN_NAME = /^[a-z0-9](?:[a-z0-9-]{0,26}[a-z0-9])?$/;

export const isOwnLabel = (label: string): label is `own-${string}` =>
  label.startsWith('own-') && OWN_NAME.test(label.slice('own-'.length));

/** An operator's own server: vLLM, Ollama, LM Studio, LiteLLM … */
export interface OwnHost {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Whose API it offers. OpenAI-style streams are asked for their usage. */
  readonly compatible: 'openai' | 'anthropic';
  /** It may be at an address in place of a public name, and without TLS. */
  readonly internal?: boolean | undefined;
}

/** The hosts of a stage beyond the twelve. */
export interface OperatorHosts {
  readonly clouds: readonly CloudLabel[];
  /** By label. */
  readonly own: Readonly<Record<string, OwnHost>>;
}

/** A name with a dot whose last label is no number and not reserved for networks of one's own. */
const PUBLIC_NAME = /^([a-z0-9_-]+\.)+(?!(?:localhost|local|internal|lan|arpa)$)[a-z][a-z0-9-]*[a-z0-9]$/;

/** Says what is wrong with the address of an own server; null where nothing is. */
export const ownHostProblem = ({ origin, internal }: OwnHost): string | null => {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol))
    return 'must be an origin, scheme and host and nothing after, such as https://vllm.example.com';
  if (internal || (url.protocol === 'https:' && PUBLIC_NAME.test(url.hostname))) return null;
  return 'must begin with https:// and have a public name, unless the row has "internal": true';
};

const ownProvider = (label: string, { origin, compatible }: OwnHost): Provider & { readonly label: HostLabel } => ({
  label: label as HostLabel,
  name: label,
  origin,
  needsStreamUsageOption: compatible === 'openai',
  priceIds: { genaiPrices: label, modelsDev: label, openrouter: null },
});

export type Host = (Provider | Cloud) & { readonly label: HostLabel };

/** All hosts of a stage, by label in lower case. */
export const hostsByLabel = (added: OperatorHosts): ReadonlyMap<string, Host> => {
  const hosts: Host[] = [
    ...providers,
    ...clouds.filter(({ label }) => added.clouds.includes(label)),
    ...Object.entries(added.own).map(([label, own]) => ownProvider(label, own)),
  ];
  return new Map(hosts.map((host) => [host.label, host]));
};

export const NO_HOSTS: OperatorHosts = { clouds: [], own: {} };

/** Whose prices the price book has. An own server has only the account's own prices. */
export const priced: readonly (Pick<Provider, 'name' | 'priceIds'> & { readonly label: ProviderLabel | CloudLabel })[] =
  [...providers, ...clouds];

const names = new Map<string, string>(priced.map(({ label, name }) => [label, name]));

/** The name of a host for people: that of the provider or cloud, else its label. */
export const hostName = (label: string): string => names.get(label) ?? label;
