import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BUNDLING_STACKS, DISABLE_ASSET_STAGING_CONTEXT } from 'aws-cdk-lib/cx-api';
import { z } from 'zod';
import { parseStageSettings } from '../../lib/config.ts';
import { SpendGatewayStage } from '../../lib/stage.ts';

export const stackNames = [
  'alarm-topic',
  'data',
  'mail',
  'identity',
  'alerts',
  'usage',
  'gateway',
  'exports',
  'billing',
  'account-jobs',
  'dashboard-api',
  'monitoring',
] as const;
export type StackName = (typeof stackNames)[number];
export const stacks = [...stackNames, 'web'] as const;

/** The context in cdk.json. */
export const cdkContext = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'))).context;

/**
 * An app with the context of cdk.json that skips CDK's validation of templates, which takes seconds for each app.
 * findings.test.ts has the validation.
 */
export const appWithoutValidation = (context: Readonly<Record<string, unknown>> = {}): App =>
  new App({
    context: { ...cdkContext, ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    stackTraces: false,
  });

// CDK formats a stack for each token and each construct, whatever the setting above says: a quarter of what it does.
Error.stackTraceLimit = 0;

type Templates = (stack: StackName | 'web') => Template;

const synthesize = (settings: object): Templates => {
  const app = appWithoutValidation({ [BUNDLING_STACKS]: [], [DISABLE_ASSET_STAGING_CONTEXT]: true });
  const stage = new SpendGatewayStage(app, parseStageSettings('dev', settings));
  const templates = new Map<string, Template>();
  return (stack) => {
    const known = templates.get(stack);
    if (known) return known;
    const template = Template.fromStack(stage.node.findChild(stack) as Stack);
    templates.set(stack, template);
    return template;
  };
};

const stages = new Map<string, Templates>();

/** The templates of a stage as `npm run synth` makes them, without the functions' code. Cached by settings; read-only. */
export const synthStage = (settings: object = {}): Templates => {
  const key = JSON.stringify(settings);
  const stage = stages.get(key) ?? synthesize(settings);
  stages.set(key, stage);
  return stage;
};

/*
 * A stage takes most of a second to make. Tests of one setting each share these, whose settings do not concern each other.
 */

/** Domains in a hosted zone. */
export const hosted = {
  gatewayDomain: 'ai.acme.dev',
  dashboardDomain: 'spend.acme.dev',
  hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'acme.dev' },
};

/** The dashboard, where people from Acme and Globex sign on. */
export const withSignOn = {
  dashboardUrl: 'https://app.acme.dev',
  signOn: {
    domainPrefix: 'acme-spend',
    providers: {
      Acme: {
        type: 'oidc',
        issuer: 'https://login.acme.dev',
        clientId: 'spend',
        clientSecretName: 'acme/spend-client',
        domains: ['acme.dev', 'acme.io'],
      },
      Globex: {
        type: 'saml',
        metadataUrl: 'https://idp.globex.dev/metadata',
        domains: ['globex.dev'],
        verifiesAddresses: true,
      },
    },
  },
};

/** What adds to a stage or tunes it. */
export const filledIn = {
  ...withSignOn,
  alarmMail: 'ops@acme.dev',
  runbookUrl: 'https://wiki.acme.dev/ai-spend',
  mailFrom: 'alerts@acme.dev',
  mail: { identity: 'create' },
  corsOrigins: ['https://app.acme.dev'],
  billing: {
    prices: { STARTER: ['price_2', 'price_1'], PRO: [] },
    successUrl: 'https://acme.dev/paid?session={CHECKOUT_SESSION_ID}',
  },
  expectedRequestsPerSecond: 5_000,
  recorder: { batchSize: 300, maxConcurrency: 40 },
  table: { warmThroughput: { readUnitsPerSecond: 15_000, writeUnitsPerSecond: 9_000 } },
  firewall: { malformedKeysPer5Minutes: 50 },
  gateway: {
    reservedConcurrency: 500,
    provisionedConcurrency: 20,
    memoryMb: 2_048,
    allowedOrigins: ['https://chat.acme.dev'],
  },
};

/** What takes from a stage. */
export const stripped = {
  removalPolicy: 'destroy',
  expectedRequestsPerSecond: 20,
  firewall: { enabled: false },
  gateway: { canaryRelease: false },
};

/** Pages in a domain of their own, mail from a domain in the zone. */
export const published = {
  ...hosted,
  region: 'eu-central-1',
  dashboardDomain: 'api.acme.dev',
  web: {
    name: 'spend.acme.dev',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b-d9cb-469f-a165-70867728950e',
  },
  mailFrom: 'alerts@acme.dev',
  mail: { identity: 'create', cognito: true },
  expectedRequestsPerSecond: 5_000,
};

/** Nothing but an account: the stage of a first deployment. */
export const withoutDomains = z.record(z.string(), z.record(z.string(), z.unknown())).parse(cdkContext['stages'])[
  'try'
];

export const inContainers = { expectedRequestsPerSecond: 100_000, gateway: { compute: 'containers' } };

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  DependsOn: z.array(z.string()).optional(),
});
export type Resource = z.infer<typeof resourceSchema>;

/** All resources of a type by logical id. */
export const resourcesOf = (template: Template, type: string): Record<string, Resource> =>
  z.record(z.string(), resourceSchema).parse(template.findResources(type));

/** The only resource of a type. */
export const onlyResource = (template: Template, type: string): Resource => {
  const found = Object.values(resourcesOf(template, type));
  if (found.length !== 1) throw new Error(`${found.length} resources of type ${type}, not one`);
  return found[0] as Resource;
};

const integrationSchema = z.looseObject({
  type: z.string(),
  uri: z.unknown().optional(),
  timeoutInMillis: z.number().optional(),
  responseTransferMode: z.string().optional(),
});

const definitionSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
        'x-amazon-apigateway-integration': integrationSchema,
      }),
    ),
  ),
  components: z.unknown().optional(),
  'x-amazon-apigateway-binary-media-types': z.array(z.string()).optional(),
  servers: z.unknown(),
  'x-amazon-apigateway-gateway-responses': z.record(
    z.string(),
    z.object({
      statusCode: z.string().optional(),
      responseParameters: z.record(z.string(), z.string()),
      responseTemplates: z.object({ 'application/json': z.string() }),
    }),
  ),
});

/** The definition that API Gateway imports, of the only API in a template. */
export const apiDefinition = (template: Template) => {
  const definition = definitionSchema.parse(onlyResource(template, 'AWS::ApiGateway::RestApi').Properties['Body']);
  return {
    ...definition,
    methods: Object.entries(definition.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security, 'x-amazon-apigateway-integration': integration }]) => ({
        route: `${method.replace('x-amazon-apigateway-any-method', 'any').toUpperCase()} ${path}`,
        security,
        integration,
      })),
    ),
    responses: Object.entries(definition['x-amazon-apigateway-gateway-responses']).map(
      ([type, { statusCode, responseParameters, responseTemplates }]) => ({
        type,
        statusCode,
        headers: responseParameters,
        template: responseTemplates['application/json'],
      }),
    ),
  };
};
