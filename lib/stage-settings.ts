import { z } from 'zod';
import { registrations } from '../lambda/domain/accounts/registration.ts';
import { paidPlanNames } from '../lambda/domain/billing/price-list.ts';
import { cloudLabels, OWN_NAME, ownHostProblem } from '../lambda/domain/hosts.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import { BATCH, RECORDERS, usageCapacity } from './usage-capacity.ts';

/** Settings of a stage in cdk.json, each with its limits and its default. */

const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

/** Retentions that CloudWatch Logs accepts. @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * Whether a region streams responses of Lambda functions: since 2026-04-07 all commercial ones do. Those of China, GovCloud and the
 * isolated clouds are partitions of their own.
 *
 * @see https://aws.amazon.com/about-aws/whats-new/2026/04/aws-lambda-response-streaming/
 */
export const isCommercialRegion = (region: string): boolean => !/^(cn|us-gov|[a-z]+-iso[a-z]?)-/.test(region);

/** @param missing what is said where there is none */
export const accountNumber = (missing?: string) =>
  z.string(missing).regex(/^\d{12}$/, 'must be an AWS account id of 12 digits');
export const regionName = (missing?: string) =>
  z.string(missing).regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region, such as eu-central-1');

/** How a check refuses a setting, named by its path, for what others say. */
const refusing =
  ({ addIssue }: z.RefinementCtx) =>
  (setting: string, message: string): void =>
    addIssue({ code: 'custom', path: setting.split('.'), message });

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
  /**
   * Environments that stay warm. 0: none, the first requests after a quiet time meet cold starts. Change it in a deployment of its own:
   * Lambda refuses a new number while two versions share the alias, as they do in a canary release.
   */
  provisionedConcurrency: wholeNumber(0, 100_000).default(0),
};

const compute = z.enum(['lambda', 'containers'], "must be 'lambda' or 'containers'");

/** A load balancer breaks a connection that is silent for 4,000 s at the latest: a time-out of ours before that gives a proper error. */
const silenceMs = wholeNumber(1, 3_900_000).default(290_000);

/**
 * API Gateway breaks a connection that is silent for five minutes.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
 */
const LAMBDA_SILENCE_MAX_MS = 295_000;
/**
 * Lambda takes 4 KB of environment variables in all. The others are shorter than a kilobyte.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const LAMBDA_SETTINGS_MAX_BYTES = 3_000;

const isTooLong = (settings: object): boolean =>
  Buffer.byteLength(JSON.stringify(settings)) > LAMBDA_SETTINGS_MAX_BYTES;

const containerSettings = z
  .strictObject({
    /** A task has one processor, which is what a Node process can use; Fargate has this much memory for it. */
    memoryMb: z
      .number()
      .refine((mb) => mb % 1_024 === 0 && mb >= 2_048 && mb <= 8_192, {
        error: 'must be 2048, 3072, 4096, 5120, 6144, 7168 or 8192',
      })
      .default(2_048),
    /** Three: one in each availability zone. */
    minTasks: wholeNumber(2, 5_000).default(3),
    maxTasks: wholeNumber(2, 5_000).default(30),
    /** The most that a task carries. With all zones up, tasks are added so that each has two thirds of it. */
    openRequestsPerTask: wholeNumber(3, 20_000).default(600),
  })
  .superRefine(({ minTasks, maxTasks }, context) => {
    if (minTasks > maxTasks) refusing(context)('minTasks', `must not exceed maxTasks, ${maxTasks}`);
  });

const sourceUrl = z.url({ protocol: /^https$/, error: 'must be a URL that begins with https://' }).nullable();

/** Where prices are read from. A source that is null is not read; without any, the prices in the code hold. */
const priceFeedSettings = z.strictObject({
  /** Recorders use a new version at most five minutes after it is stored. */
  everyMinutes: wholeNumber(5, 60).default(15),
  sources: z
    .strictObject({
      'genai-prices': sourceUrl.default(
        'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json',
      ),
      'models.dev': sourceUrl.default('https://models.dev/api.json'),
    })
    .prefault({}),
});

const ownHost = z
  .strictObject({
    origin: z.string(),
    compatible: z.enum(['openai', 'anthropic'], "must be 'openai' or 'anthropic'"),
    /** It may be at an address in place of a public name, and without TLS. */
    internal: z.boolean().default(false),
  })
  .superRefine((host, context) => {
    const message = ownHostProblem(host);
    if (message !== null) refusing(context)('origin', message);
  });

const gatewaySettings = z.strictObject({
  /** The host of the gateway: docs/cost-and-scale.md compares them. */
  compute: compute.default('lambda'),
  /** Names of the containers' zones. Unset: the first three of the region. They stay while containers run: subnets keep their addresses. */
  availabilityZones: z
    .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/, 'must be an availability zone, such as us-east-1a'))
    .min(2, 'must be at least two availability zones')
    .optional(),
  /** Sizes of each host group with `compute: "containers"`: all providers together, and each isolated one. */
  containers: containerSettings.prefault({}),
  /** The function needs 150 MB (measured 2026-11); more memory buys processor time. See docs/cost-and-scale.md. */
  memoryMb: memoryMb.default(512),
  /** API Gateway's own limit (a load balancer has none), for all clients together; the account's quota is 10,000/s with bursts of 5,000 unless raised. */
  throttle: throttle(5_000, 2_500),
  ...concurrency,
  /** A new version gets a tenth of the requests first and is rolled back when it fails; deployments take five minutes longer. */
  canaryRelease: z.boolean().default(true),
  /** Providers with a function or containers of their own. `compute` unset: as the other hosts. */
  isolatedProviders: z
    .partialRecord(
      z.enum(providerLabels),
      z.strictObject({
        ...concurrency,
        compute: compute.optional(),
      }),
    )
    .default({}),
  connectTimeoutMs: wholeNumber(1, 900_000).default(10_000),
  headersTimeoutMs: silenceMs,
  idleTimeoutMs: silenceMs,
  /** How long an open event waits before it may become a record of unknown outcome; SQS allows 900. */
  openEventDelaySeconds: wholeNumber(0, 900).default(900),
  /** Origins whose pages may call the gateway from a browser. A page shows its keys to everybody who opens it. */
  allowedOrigins: z.array(origin).default([]),
  /** Hosts beyond the twelve: docs/clients.md. */
  hosts: z
    .strictObject({
      clouds: z.array(z.enum(cloudLabels)).default([]),
      /** Own servers, by label. The gateway reaches an internal one only from a network that leads there. */
      own: z
        .record(z.templateLiteral(['own-', z.string().regex(OWN_NAME)]), ownHost, {
          error: ({ code }) =>
            code === 'invalid_key' ? 'must be named by own- and 1 to 28 of a-z, 0-9 and "-"' : undefined,
        })
        .default({}),
    })
    .prefault({}),
  /** Other origins of providers, such as a mock in a test stage. */
  upstreamOrigins: z.partialRecord(z.enum(providerLabels), origin).default({}),
});

type GatewaySettings = z.infer<typeof gatewaySettings>;
type Compute = z.infer<typeof compute>;

/**
 * Provider hosts that share a function or a service of containers: all providers together, with the label `*`, and then each isolated one.
 * `setting` is the path of their settings.
 */
export const hostGroups = ({ isolatedProviders, ...shared }: GatewaySettings) =>
  Object.entries({ '*': shared, ...isolatedProviders }).map(
    ([label, { compute = shared.compute, reservedConcurrency, provisionedConcurrency }]) => ({
      label,
      compute,
      reservedConcurrency,
      provisionedConcurrency,
      setting: label === '*' ? 'gateway' : `gateway.isolatedProviders.${label}`,
    }),
  );

export const usesCompute = (gateway: GatewaySettings, compute: Compute): boolean =>
  hostGroups(gateway).some((group) => group.compute === compute);

export const domainOf = (address: string): string => address.slice(address.indexOf('@') + 1);

const dashboardSettings = z.strictObject({
  memoryMb: memoryMb.default(512),
  throttle: throttle(100, 200),
});

/** How usage is recorded. What is unset follows from expectedRequestsPerSecond: see usage-capacity.ts. */
const recorderSettings = z.strictObject({
  /** Recorders that run at the same time, at most. */
  maxConcurrency: wholeNumber(RECORDERS.least, RECORDERS.most).exactOptional(),
  /** They are reserved in the account's concurrency, so that the gateway leaves them room. A quota of 100 or less has no room for it. */
  reservesConcurrency: z.boolean().default(true),
  /** Events that a recorder gets at once, at most. */
  batchSize: wholeNumber(1, BATCH.most).exactOptional(),
});

const tableSettings = z.strictObject({
  /** Request records leave the table after this number of days, and are then read from the bucket; null: they stay for their whole retention. */
  requestDays: wholeNumber(30, 400).nullable().default(30),
  /** The traffic that the table takes at once without growing first. It can be raised and not lowered, and raising it costs once. */
  warmThroughput: z
    .strictObject({
      readUnitsPerSecond: wholeNumber(12_000, 10_000_000),
      writeUnitsPerSecond: wholeNumber(4_000, 10_000_000),
    })
    .exactOptional(),
});

const firewallSettings = z.strictObject({
  /** A web ACL costs by month, by rule and by million requests, so it can be off. */
  enabled: z.boolean().default(true),
  /** Sign-in, registration, password and token requests of one address in five minutes. The API's own limits add up to less. */
  authRequestsPer5Minutes: wholeNumber(10, 2_000_000_000).default(1_000),
  /** Proxy requests of one address in five minutes whose service key is missing or malformed. */
  malformedKeysPer5Minutes: wholeNumber(10, 2_000_000_000).default(300),
});

const webPage = z.url({
  protocol: /^https?$/,
  error: 'must be the URL of a page, such as https://app.example.com/billing',
});

const billingSettings = z
  .strictObject({
    /** Stripe price ids by plan, recurring monthly. The first is sold; keep those of subscriptions sold before after it. */
    prices: z
      .partialRecord(
        z.enum(paidPlanNames),
        z.array(z.string().regex(/^(price|plan)_\w+$/, 'must be the id of a Stripe price, such as price_1Abc')),
      )
      .default({}),
    /** The address that Stripe sends people back to. Unset: pages below the dashboard's URL. */
    successUrl: webPage.optional(),
    cancelUrl: webPage.optional(),
    portalReturnUrl: webPage.optional(),
    /** Where Stripe's API is, or a fake of it in a test stage. */
    stripeApiOrigin: origin.default('https://api.stripe.com'),
  })
  .superRefine(({ prices }, context) => {
    const ids = Object.values(prices).flat();
    if (new Set(ids).size < ids.length) refusing(context)('prices', 'must not name a price twice');
  });

const webSettings = z.strictObject({
  name: hostName,
  /** CloudFront takes certificates only from us-east-1, whatever the region of the stage. */
  certificateArn: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
      'must be the ARN of a certificate in us-east-1, such as arn:aws:acm:us-east-1:123456789012:certificate/…',
    ),
});

/** The addresses that users' webhooks may reach beyond port 443 of public ones. */
const webhookSettings = z.strictObject({
  ports: z.array(wholeNumber(1, 65_535)).default([]),
  /** Names that the functions' network resolves: a webhook to one of them may have an internal address. */
  internalHosts: z.array(hostName).default([]),
});

const mailSettings = z.strictObject({
  /** `create`: the deployment makes SES's identity of mailFrom's domain, with DKIM. `existing`: it is there, and verified. */
  identity: z.enum(['existing', 'create'], "must be 'existing' or 'create'").default('existing'),
  /** Cognito sends password codes by SES as mailFrom. Only once its domain is verified: a deployment fails before that. */
  cognito: z.boolean().default(false),
});

const addressesOfProvider = {
  domains: z.array(hostName).min(1, 'must have the domains of the addresses that it vouches for'),
  /** It verifies every address, and does not say so in `email_verified`. Otherwise people whose address is not verified cannot join. */
  verifiesAddresses: z.boolean().default(false),
};

const signOnProvider = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('oidc'),
      issuer: z.url({ protocol: /^https$/, error: 'must be the https URL of the issuer' }),
      clientId: z.string().min(1),
      clientSecretName: z.string().regex(/^[\w/+=.@-]{1,512}$/, 'must be the name of a secret in Secrets Manager'),
      ...addressesOfProvider,
    }),
    z.strictObject({
      type: z.literal('saml'),
      metadataUrl: z.url({ protocol: /^https$/, error: 'must be the https URL of the metadata' }),
      /** Names of the assertion's attributes. Unset: those that Entra ID and AD FS use. */
      attributes: z
        .strictObject({
          email: z.string().min(1),
          given_name: z.string().min(1),
          family_name: z.string().min(1),
          email_verified: z.string().min(1).optional(),
        })
        .default({
          email: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
          given_name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
          family_name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
        }),
      ...addressesOfProvider,
    }),
  ],
  "must be 'oidc' or 'saml'",
);

/** Cognito keeps some names for itself. */
const PROVIDER_NAME =
  /^(?!(Cognito|COGNITO|Google|Facebook|LoginWithAmazon|SignInWithApple)$)[A-Za-z0-9][A-Za-z0-9-]{2,31}$/;

/** Identity providers for single sign-on, by the name that users see. */
const signOnSettings = z
  .strictObject({
    /** Providers lead back to `https://{domainPrefix}.auth.{region}.amazoncognito.com`: unique in the region. */
    domainPrefix: z
      .string()
      .regex(
        /^(?!.*(aws|amazon|cognito))[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
        'must be a prefix of a domain in lower case without aws, amazon or cognito, such as acme-spend',
      )
      .optional(),
    providers: z
      .record(z.string().regex(PROVIDER_NAME), signOnProvider, {
        error: ({ code }) =>
          code === 'invalid_key'
            ? 'must be named by 3 to 32 letters, digits or hyphens, and not Cognito, Google, Facebook, LoginWithAmazon or SignInWithApple'
            : undefined,
      })
      .default({}),
  })
  .superRefine(({ domainPrefix, providers }, context) => {
    const refuse = refusing(context);
    const domains = Object.values(providers).flatMap((provider) => provider.domains);
    if (new Set(domains).size !== domains.length)
      refuse('providers', 'must not name a domain twice: the domain of an address decides the provider');
    if (isTooLong(addressesOf(providers)))
      refuse(
        'providers',
        `must have at most ${LAMBDA_SETTINGS_MAX_BYTES} bytes as JSON with their names, domains and verifiesAddresses, as Lambda takes no more`,
      );
    if (domains.length > 0 && domainPrefix === undefined) refuse('domainPrefix', 'is needed for identity providers');
    if (domains.length === 0 && domainPrefix !== undefined)
      refuse('providers', 'must have an identity provider, or leave domainPrefix out');
  });

/** What the dashboard's function has of identity providers in a variable. */
export const addressesOf = (providers: z.infer<typeof signOnSettings>['providers']) =>
  Object.fromEntries(
    Object.entries(providers).map(([name, { domains, verifiesAddresses }]) => [name, { domains, verifiesAddresses }]),
  );

export const stageSettings = z
  .strictObject({
    account: accountNumber().optional(),
    region: regionName().optional(),
    /**
     * Whether the stage has domains. Without them API Gateway's own addresses serve, with the provider in the path: nothing but an account is
     * needed. Outputs have them.
     */
    customDomains: z.boolean().default(true),
    /** Gateway hosts are `{label}.{gatewayDomain}`. A certificate's name has at most 64 characters. */
    gatewayDomain: hostName.max(62, 'must have at most 62 characters').default('gateway.example.com'),
    /** The dashboard API is `https://{dashboardDomain}/api`. */
    dashboardDomain: hostName.max(64, 'must have at most 64 characters').default('dashboard.example.com'),
    /** Route 53 zone that holds both domains. Without one, certificates and records are made by hand where the DNS is. */
    hostedZone: z
      .strictObject({
        id: z.string().regex(/^Z[A-Z0-9]{1,32}$/, 'must be a hosted zone id, such as Z0123456789ABCDEFGHIJ'),
        name: hostName,
      })
      .optional(),
    /** Where the web dashboard is. Unset: at CloudFront's own domain. `parseStageSettings` takes false, too: there is none. */
    web: webSettings.optional(),
    /** Web origins whose pages may call the dashboard API, apart from the web dashboard's own domain. */
    corsOrigins: z.array(origin).default([]),
    /** Who may get a login: anybody (`open`), those a member invites (`invite`), or nobody (`closed`). A deployment must choose. */
    registration: z.enum(registrations, "must be 'open', 'invite' or 'closed'").optional(),
    /** Receives alarms. */
    alarmMail: z.email('must be an e-mail address').optional(),
    /** Sender of alerts: its address or domain must be a verified identity of SES. Unset: alerts@{dashboardDomain}. */
    mailFrom: z.email('must be an e-mail address').optional(),
    mail: mailSettings.prefault({}),
    webhooks: webhookSettings.prefault({}),
    /** Where alerts link to. Unset: the web dashboard's own domain, or https://{dashboardDomain} without one. */
    dashboardUrl: origin.optional(),
    /** Where docs/runbook.md is read: alarms link its sections. */
    runbookUrl: z.string().min(1).default('docs/runbook.md'),
    logRetentionDays: z
      .number()
      .refine((days) => LOG_RETENTION_DAYS.includes(days), { error: `must be one of ${LOG_RETENTION_DAYS.join(', ')}` })
      .default(90),
    /** Whether AWS X-Ray traces requests on Lambda: docs/runbook.md#find-a-request. It costs by trace. */
    traces: z.boolean().default(false),
    /** Whether data stays when its stack is deleted. `retain` also protects table and user pool against deletion. */
    removalPolicy: z.enum(['retain', 'destroy'], "must be 'retain' or 'destroy'").default('retain'),
    /** Name of a table that `npm run restore-table` made: the service works on it, and the stack's own stays as it is. */
    restoredTable: z
      .string()
      .regex(/^[\w.-]{3,255}$/, 'must be the name of a DynamoDB table')
      .optional(),
    /** Proxied requests a second at a busy time, of all accounts. What records them is sized for twice as many. */
    expectedRequestsPerSecond: wholeNumber(1, 100_000).default(500),
    recorder: recorderSettings.prefault({}),
    priceFeed: priceFeedSettings.prefault({}),
    table: tableSettings.prefault({}),
    gateway: gatewaySettings.prefault({}),
    dashboard: dashboardSettings.prefault({}),
    firewall: firewallSettings.prefault({}),
    billing: billingSettings.prefault({}),
    signOn: signOnSettings.prefault({}),
  })
  .superRefine((settings, context) => {
    const {
      region = '',
      gateway,
      web,
      dashboardUrl,
      gatewayDomain,
      dashboardDomain,
      customDomains,
      hostedZone,
    } = settings;
    const refuse = refusing(context);
    const page = dashboardUrl ?? (web && `https://${web.name}`) ?? '';
    if (settings.signOn.domainPrefix !== undefined && !/^(https:|http:\/\/localhost\b)/.test(page))
      refuse('dashboardUrl', 'must be an https origin for signOn, which leads back to a page of it; or set web');
    if (web?.name === dashboardDomain)
      refuse(
        'web.name',
        'must differ from dashboardDomain, which is the API: two hosts, such as app.acme.dev and api.acme.dev',
      );
    const labels = [...providerLabels, ...gateway.hosts.clouds, ...Object.keys(gateway.hosts.own)];
    for (const [setting, host] of Object.entries({ dashboardDomain, 'web.name': web?.name }))
      if (labels.some((label) => host === `${label}.${gatewayDomain}`))
        refuse(setting, `must be another host than ${host}, which is the gateway's`);
    for (const group of hostGroups(gateway)) {
      const { reservedConcurrency: reserved, provisionedConcurrency: warm } = group;
      if (group.compute === 'containers') {
        const message = `is of Lambda, and ${group.label} runs in containers: leave it out. gateway.containers says how many there are`;
        if (reserved !== undefined) refuse(`${group.setting}.reservedConcurrency`, message);
        if (warm > 0) refuse(`${group.setting}.provisionedConcurrency`, message);
      } else if (reserved !== undefined && warm > reserved)
        refuse(`${group.setting}.provisionedConcurrency`, `must not exceed reservedConcurrency, ${reserved}`);
    }
    const { corsOrigins, webhooks, signOn } = settings;
    for (const [setting, others, lists] of [
      ['corsOrigins', 'the addresses of signOn.providers', [corsOrigins, addressesOf(signOn.providers)]],
      ['webhooks', 'corsOrigins and gateway.upstreamOrigins', [webhooks, corsOrigins, gateway.upstreamOrigins]],
    ] as const)
      if (isTooLong(lists))
        refuse(
          setting,
          `must have, with ${others}, at most ${LAMBDA_SETTINGS_MAX_BYTES} bytes as JSON, as Lambda takes no more`,
        );
    if (usesCompute(gateway, 'lambda')) {
      const { ratePerSecond } = gateway.throttle;
      if (settings.expectedRequestsPerSecond > ratePerSecond)
        refuse(
          'expectedRequestsPerSecond',
          `must not exceed gateway.throttle.ratePerSecond, ${ratePerSecond}, while a host is served by Lambda: API Gateway refuses more`,
        );
      for (const name of ['headersTimeoutMs', 'idleTimeoutMs'] as const)
        if (gateway[name] > LAMBDA_SILENCE_MAX_MS)
          refuse(`gateway.${name}`, `must be at most ${LAMBDA_SILENCE_MAX_MS} while a host is served by Lambda`);
      const { hosts, allowedOrigins, upstreamOrigins } = gateway;
      if (isTooLong([hosts, allowedOrigins, upstreamOrigins]))
        refuse(
          'gateway.hosts',
          `must have, with allowedOrigins and upstreamOrigins, at most ${LAMBDA_SETTINGS_MAX_BYTES} bytes as JSON while a host is served by Lambda`,
        );
    }
    if (!customDomains && usesCompute(gateway, 'containers'))
      refuse(
        'customDomains',
        'must not be false while a host runs in containers: a load balancer has no certificate of its own',
      );
    const elsewhere = gateway.availabilityZones?.find((zone) => !zone.startsWith(region));
    if (elsewhere !== undefined)
      refuse('gateway.availabilityZones', `must lie in the region ${region}, got ${elsewhere}`);
    if (hostedZone === undefined) return;
    const hosts = { ...(customDomains && { gatewayDomain, dashboardDomain }), ...(web && { 'web.name': web.name }) };
    for (const [setting, host] of Object.entries(hosts))
      if (host !== hostedZone.name && !host.endsWith(`.${hostedZone.name}`))
        refuse(setting, `must lie in the hosted zone ${hostedZone.name}, got ${host}`);
  })
  .transform((settings) => {
    const { warmThroughput, ...recorder } = usageCapacity(settings.expectedRequestsPerSecond);
    return {
      ...settings,
      sender: settings.mailFrom ?? `alerts@${settings.dashboardDomain}`,
      recorder: { ...recorder, ...settings.recorder },
      table: { ...(warmThroughput && { warmThroughput }), ...settings.table },
    };
  });

export type FirewallSettings = z.infer<typeof firewallSettings>;
