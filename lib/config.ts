import { RemovalPolicy } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import { z } from 'zod';
import { providerLabels } from '../lambda/domain/providers.ts';

/**
 * The settings of a stage. This is the only reader of the CDK context: nothing else in `lib` asks where it runs.
 * Every setting has a default, so that `npm run synth` works on a fresh clone; `missingForDeploy` says what a real
 * account still needs.
 */

const STAGE_NAME = /^[a-z][a-z0-9-]{0,19}$/;
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

/** What CloudWatch Logs accepts. @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const hostName = z
  .string()
  .regex(HOST_NAME, 'must be a host name in lower case without scheme or path, such as gateway.example.com');

const origin = z.string().refine((value) => URL.canParse(value) && new URL(value).origin === value, {
  error: 'must be an origin, scheme and host and nothing after, such as https://app.example.com',
});

const wholeNumber = (min: number, max: number) =>
  z
    .number(`must be a whole number from ${min} to ${max}`)
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

const memoryMb = wholeNumber(128, 10_240);

const throttle = (ratePerSecond: number, burst: number) =>
  z
    .strictObject({
      ratePerSecond: wholeNumber(1, 100_000).default(ratePerSecond),
      burst: wholeNumber(1, 100_000).default(burst),
    })
    .prefault({});

const concurrency = {
  /** Upper bound of requests in flight, taken out of the account's concurrency. Unset: what the account has. */
  reservedConcurrency: wholeNumber(1, 100_000).optional(),
  /** Environments kept warm. 0: none, the first requests after a quiet time meet cold starts. */
  provisionedConcurrency: wholeNumber(0, 100_000).default(0),
};

const gatewaySettings = z.strictObject({
  memoryMb: memoryMb.default(1024),
  /** The API's own limit, for all clients together; the account's quota is 10,000/s with bursts of 5,000 unless raised. */
  throttle: throttle(5_000, 2_500),
  ...concurrency,
  /** Providers with a function of their own, and how much concurrency it has. */
  isolatedProviders: z.partialRecord(z.enum(providerLabels), z.strictObject(concurrency)).default({}),
  connectTimeoutMs: wholeNumber(1, 900_000).default(10_000),
  headersTimeoutMs: wholeNumber(1, 900_000).default(600_000),
  idleTimeoutMs: wholeNumber(1, 900_000).default(300_000),
  /** How long an open event waits before it may become a record of unknown outcome; SQS allows 900. */
  openEventDelaySeconds: wholeNumber(0, 900).default(900),
  /** Providers sent to another origin than their own, such as a mock in a test stage. */
  upstreamOrigins: z.partialRecord(z.enum(providerLabels), origin).default({}),
});

const dashboardSettings = z.strictObject({
  memoryMb: memoryMb.default(512),
  throttle: throttle(100, 200),
});

const firewallSettings = z.strictObject({
  /** A web ACL costs by the month, by the rule and by the million requests: off where nobody would miss it. */
  enabled: z.boolean().default(true),
  /** Sign-in, registration and password requests of one address in five minutes. */
  authRequestsPer5Minutes: wholeNumber(10, 2_000_000_000).default(100),
  /** Proxy requests of one address in five minutes whose service key is missing or malformed. */
  malformedKeysPer5Minutes: wholeNumber(10, 2_000_000_000).default(300),
});

const stageSettings = z
  .strictObject({
    account: z
      .string()
      .regex(/^\d{12}$/, 'must be an AWS account id of 12 digits')
      .optional(),
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region, such as eu-central-1')
      .optional(),
    /** Gateway hosts are `{label}.{gatewayDomain}`. */
    gatewayDomain: hostName.default('gateway.example.com'),
    /** The dashboard API is `https://{dashboardDomain}/api`. */
    dashboardDomain: hostName.default('dashboard.example.com'),
    /** Route 53 zone that holds both domains. Without one, certificates and records are made by hand where the DNS is. */
    hostedZone: z
      .strictObject({
        id: z.string().regex(/^Z[A-Z0-9]{1,32}$/, 'must be a hosted zone id, such as Z0123456789ABCDEFGHIJ'),
        name: hostName,
      })
      .optional(),
    /** Web origins whose pages may call the dashboard API. */
    corsOrigins: z.array(origin).default([]),
    /** Receives alarms. */
    alarmMail: z.email('must be an e-mail address').optional(),
    /** Where docs/runbook.md is read: alarms link its sections. */
    runbookUrl: z.string().min(1).default('docs/runbook.md'),
    logRetentionDays: z
      .number()
      .refine((days) => LOG_RETENTION_DAYS.includes(days), { error: `must be one of ${LOG_RETENTION_DAYS.join(', ')}` })
      .default(90),
    /** What happens to data when its stack is deleted. `retain` also protects table and user pool against deletion. */
    removalPolicy: z.enum(['retain', 'destroy'], "must be 'retain' or 'destroy'").default('retain'),
    gateway: gatewaySettings.prefault({}),
    dashboard: dashboardSettings.prefault({}),
    firewall: firewallSettings.prefault({}),
  })
  .check(({ value, issues }) => {
    if (value.hostedZone === undefined) return;
    for (const key of ['gatewayDomain', 'dashboardDomain'] as const) {
      const zone = value.hostedZone.name;
      if (value[key] === zone || value[key].endsWith(`.${zone}`)) continue;
      issues.push({
        code: 'custom',
        input: value[key],
        path: [key],
        message: `must lie in the hosted zone ${zone}, got ${value[key]}`,
      });
    }
  });

export type FirewallSettings = z.infer<typeof firewallSettings>;

export type StageSettings = Omit<z.infer<typeof stageSettings>, 'removalPolicy' | 'logRetentionDays'> & {
  readonly name: string;
  readonly retention: Retention;
};

/** How long things are kept: handed to every construct that makes something that outlives it. */
export interface Retention {
  readonly logs: RetentionDays;
  /** Of stores of data: tables, user pools, secrets, dead-letter queues. */
  readonly data: RemovalPolicy;
}

/** The settings cannot be used. The message lists every mistake, one line each. */
export class InvalidSettings extends Error {}

/** Keys that begin with `//` are comments, and empty strings are settings not filled in yet. */
const withoutBlanks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter(([key, member]) => !key.startsWith('//') && member !== '')
    .map(([key, member]) => [key, withoutBlanks(member)] as const)
    .filter(([, member]) => !isEmptiedObject(member));
  return Object.fromEntries(kept);
};

const isEmptiedObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

/** @throws InvalidSettings naming each mistake by its path in `cdk.json`. */
export const parseStageSettings = (name: string, input: unknown): StageSettings => {
  if (!STAGE_NAME.test(name)) {
    throw new InvalidSettings(`stage: must be 1 to 20 of a-z, 0-9 and "-", beginning with a letter, got "${name}"`);
  }
  const parsed = stageSettings.safeParse(withoutBlanks(input ?? {}));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${['stages', name, ...issue.path].join('.')}: ${issue.message}`);
    throw new InvalidSettings(lines.join('\n'));
  }
  const { removalPolicy, logRetentionDays, ...settings } = parsed.data;
  return {
    ...settings,
    name,
    retention: {
      logs: logRetentionDays as RetentionDays,
      data: removalPolicy === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    },
  };
};

/** Settings that a deployment needs and a synthesis does not: one line each, naming the setting and what it is for. */
const missingForDeploy = (settings: StageSettings): readonly string[] => {
  const at = (key: string) => `stages.${settings.name}.${key}`;
  const isExample = (domain: string) => domain.endsWith('.example.com');
  return [
    settings.account === undefined && `${at('account')}: the AWS account id to deploy to`,
    settings.region === undefined && `${at('region')}: the AWS region to deploy to, such as eu-central-1`,
    isExample(settings.gatewayDomain) && `${at('gatewayDomain')}: the domain under which the provider hosts live`,
    isExample(settings.dashboardDomain) && `${at('dashboardDomain')}: the domain of the dashboard API`,
    settings.alarmMail === undefined && `${at('alarmMail')}: the mail address that receives alarms`,
  ].filter((line) => line !== false);
};

const contextSchema = z.object({
  stage: z.string().default('dev'),
  stages: z.record(z.string(), z.unknown()).default({}),
  /** Set by bin/deploy.ts: the settings must suffice for a real account. */
  deploy: z.literal('true').optional(),
});

/**
 * The stage named by the context key `stage` (default `dev`), with the settings that `stages.{name}` holds in cdk.json.
 *
 * @throws InvalidSettings
 */
export const readStageSettings = (node: Node): StageSettings => {
  const { stage, stages, deploy } = contextSchema.parse({
    stage: node.tryGetContext('stage'),
    stages: node.tryGetContext('stages'),
    deploy: node.tryGetContext('deploy'),
  });
  if (!(stage in stages) && stage !== 'dev') {
    throw new InvalidSettings(
      `stage: cdk.json has no stages.${stage}; it has ${Object.keys(stages).sort().join(', ') || 'none'}`,
    );
  }
  const settings = parseStageSettings(stage, stages[stage]);
  const missing = deploy === undefined ? [] : missingForDeploy(settings);
  if (missing.length > 0) {
    throw new InvalidSettings([`Fill in cdk.json before deploying ${stage}:`, ...missing].join('\n'));
  }
  return settings;
};
