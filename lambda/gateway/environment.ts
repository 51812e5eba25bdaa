import {
  type Host,
  hostsByLabel,
  isCloudLabel,
  isOwnLabel,
  type OperatorHosts,
  ownHostProblem,
} from '../domain/hosts.ts';

/** The variables that templates set. */
export interface GatewayEnvironment {
  TABLE_NAME: string;
  USAGE_QUEUE_URL: string;
  /** `{label}.{GATEWAY_DOMAIN}` are the gateway hosts. */
  GATEWAY_DOMAIN: string;
  /** JSON array of the origins whose pages may call the gateway from a browser; none without it. */
  ALLOWED_ORIGINS?: string;
  /** Secrets Manager id of the HMAC key for fingerprints of provider credentials. */
  FINGERPRINT_SECRET_ID: string;
  /** Seconds before an open event reaches the recorder: 900 on AWS, less in tests. */
  OPEN_EVENT_DELAY_SECONDS: string;
  CONNECT_TIMEOUT_MS: string;
  HEADERS_TIMEOUT_MS: string;
  IDLE_TIMEOUT_MS: string;
  /** JSON object of the hosts beyond the twelve, see OperatorHosts; none without it. */
  HOSTS?: string;
  /** JSON object `{label: origin}` that replaces the origins of providers: `{}` in production, mocks in tests. */
  UPSTREAM_ORIGINS: string;
  /** `on`: messages to the usage queue carry the trace of their request. Only on Lambda. */
  TRACES?: string;
}

/** The gateway's settings. Parsed without a schema library, which would cost more than the rest of the cold start. */
export interface GatewaySettings {
  readonly tableName: string;
  readonly usageQueueUrl: string;
  /** Lower case, no port. */
  readonly gatewayDomain: string;
  /** By label in lower case. */
  readonly hosts: ReadonlyMap<string, Host>;
  /** Origins whose pages may call the gateway from a browser. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly fingerprintSecretId: string;
  readonly openEventDelaySeconds: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Origins used instead of the providers' own, by label. */
  readonly upstreamOrigins: ReadonlyMap<string, string>;
  /** The trace that the process works on; undefined where nothing is traced. */
  readonly currentTrace: (() => string | undefined) | undefined;
}

/** SQS's maximum. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const MAX_DELAY_SECONDS = 900;

type Variables = Readonly<Record<string, string | undefined>>;

const text = (variables: Variables, name: keyof GatewayEnvironment): string => {
  const value = variables[name];
  if (!value) throw new Error(`Set the environment variable ${name}: the gateway cannot start without it.`);
  return value;
};

const integer = (variables: Variables, name: keyof GatewayEnvironment, max: number): number => {
  const value = Number(text(variables, name));
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Error(`Set ${name} to a whole number from 0 to ${max}, not "${variables[name]}".`);
  return value;
};

const isOrigin = (text: unknown): boolean => /^https?:\/\/[^/?#@]+$/.test(String(text));

const browserOrigins = (variables: Variables): Set<string> => {
  const parsed: unknown = JSON.parse(variables['ALLOWED_ORIGINS'] || '[]');
  if (!Array.isArray(parsed) || !parsed.every((origin) => isOrigin(origin)))
    throw new Error('ALLOWED_ORIGINS must be a JSON array of origins such as ["https://app.example.com"].');
  return new Set(parsed);
};

const hosts = (variables: Variables): ReadonlyMap<string, Host> => {
  const { clouds = [], own = {} }: Partial<OperatorHosts> = JSON.parse(variables['HOSTS'] || '{}');
  for (const label of clouds)
    if (!isCloudLabel(label)) throw new Error(`HOSTS.clouds names "${label}", which is none.`);
  for (const [label, host] of Object.entries(own)) {
    const problem = isOwnLabel(label) ? ownHostProblem(host) : 'must have a label that begins with own-';
    if (problem !== null) throw new Error(`HOSTS.own.${label} ${problem}.`);
  }
  return hostsByLabel({ clouds, own });
};

const origins = (variables: Variables, hosts: ReadonlyMap<string, Host>): Map<string, string> => {
  const parsed: unknown = JSON.parse(text(variables, 'UPSTREAM_ORIGINS'));
  const entries = Object.entries(parsed as Record<string, string>);
  for (const [label, origin] of entries) {
    if (!hosts.has(label)) throw new Error(`UPSTREAM_ORIGINS names "${label}", which is not a supported provider.`);
    if (!isOrigin(origin))
      throw new Error(`UPSTREAM_ORIGINS.${label} must be an origin such as http://127.0.0.1:8080, not "${origin}".`);
  }
  return new Map(entries);
};

/**
 * @param variables usually `process.env`
 * @throws Error that names the variable and the value it needs
 */
export const parseGatewayEnvironment = (variables: Variables): GatewaySettings => {
  const byLabel = hosts(variables);
  return {
    tableName: text(variables, 'TABLE_NAME'),
    usageQueueUrl: text(variables, 'USAGE_QUEUE_URL'),
    gatewayDomain: text(variables, 'GATEWAY_DOMAIN').toLowerCase(),
    hosts: byLabel,
    allowedOrigins: browserOrigins(variables),
    fingerprintSecretId: text(variables, 'FINGERPRINT_SECRET_ID'),
    openEventDelaySeconds: integer(variables, 'OPEN_EVENT_DELAY_SECONDS', MAX_DELAY_SECONDS),
    connectTimeoutMs: integer(variables, 'CONNECT_TIMEOUT_MS', 2 ** 31 - 1),
    headersTimeoutMs: integer(variables, 'HEADERS_TIMEOUT_MS', 2 ** 31 - 1),
    idleTimeoutMs: integer(variables, 'IDLE_TIMEOUT_MS', 2 ** 31 - 1),
    upstreamOrigins: origins(variables, byLabel),
    // Lambda sets it again for each request.
    currentTrace: variables['TRACES'] === 'on' ? () => variables['_X_AMZN_TRACE_ID'] : undefined,
  };
};
