import { describe, expect, it } from '@jest/globals';
import { newAccountKey } from '../../../lambda/domain/accounts/issued-secret.ts';
import { errorBodySchema } from '../../../lambda/http/error-codes.ts';
import { parseStageSettings } from '../../../lib/config.ts';
import {
  apiDefinition,
  filledIn,
  hosted,
  onlyResource,
  published,
  type Resource,
  resourcesOf,
  stripped,
  synthStage,
} from '../synth-stage.ts';

const propertiesOf = (resources: Record<string, Resource>) =>
  Object.values(resources).map(({ Properties }) => Properties);

describe('the gateway', () => {
  const gateway = synthStage()('gateway');
  const proxy = onlyResource(gateway, 'AWS::Lambda::Function').Properties;

  it('streams every method and path for as long as the platform allows', () => {
    const { methods } = apiDefinition(gateway);
    expect(methods.map(({ route }) => route)).toEqual(['ANY /', 'ANY /{proxy+}']);
    for (const { security, integration } of methods) {
      expect(security).toEqual([]);
      expect(integration).toMatchObject({
        type: 'aws_proxy',
        httpMethod: 'POST',
        responseTransferMode: 'STREAM',
        timeoutInMillis: 900_000,
      });
      expect(JSON.stringify(integration)).toContain('/response-streaming-invocations');
      expect(JSON.stringify(integration)).toContain('2021-11-15/functions/');
    }
    expect(proxy['Timeout']).toBe(900);
  });

  it('takes every body as bytes and is reached by its own domain alone', () => {
    expect(onlyResource(gateway, 'AWS::ApiGateway::RestApi').Properties).toMatchObject({
      Body: { 'x-amazon-apigateway-binary-media-types': ['*/*'] },
      DisableExecuteApiEndpoint: true,
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    expect(onlyResource(gateway, 'AWS::ApiGateway::DomainName').Properties).toMatchObject({
      DomainName: '*.gateway.example.com',
      SecurityPolicy: 'TLS_1_2',
    });
    const mapping = onlyResource(gateway, 'AWS::ApiGateway::BasePathMapping').Properties;
    expect(mapping).not.toHaveProperty('BasePath');
  });

  it('has alias and certificate validation in the hosted zone, where there is one', () => {
    expect(resourcesOf(gateway, 'AWS::Route53::RecordSet')).toEqual({});
    const zoned = synthStage(hosted)('gateway');
    expect(onlyResource(zoned, 'AWS::Route53::RecordSet').Properties).toMatchObject({
      Name: '*.ai.acme.dev.',
      HostedZoneId: 'Z0123456789ABCDEFGHIJ',
      Type: 'A',
    });
    expect(onlyResource(zoned, 'AWS::CertificateManager::Certificate').Properties).toMatchObject({
      DomainName: '*.ai.acme.dev',
      DomainValidationOptions: [{ DomainName: '*.ai.acme.dev', HostedZoneId: 'Z0123456789ABCDEFGHIJ' }],
    });
  });

  it('runs a published version behind an alias, with as much concurrency as the settings say', () => {
    expect(proxy).not.toHaveProperty('ReservedConcurrentExecutions');
    expect(onlyResource(gateway, 'AWS::Lambda::Alias').Properties).not.toHaveProperty('ProvisionedConcurrencyConfig');
    const busy = synthStage(filledIn)('gateway');
    expect(onlyResource(busy, 'AWS::Lambda::Function').Properties).toMatchObject({
      ReservedConcurrentExecutions: 500,
      MemorySize: 2048,
    });
    expect(onlyResource(busy, 'AWS::Lambda::Alias').Properties).toMatchObject({
      Name: 'live',
      ProvisionedConcurrencyConfig: { ProvisionedConcurrentExecutions: 20 },
    });
  });

  it('gives a new version a tenth of the requests first, and takes it back where it fails', () => {
    const [groupId] = Object.keys(resourcesOf(gateway, 'AWS::CodeDeploy::DeploymentGroup'));
    const group = onlyResource(gateway, 'AWS::CodeDeploy::DeploymentGroup').Properties;
    const alarms = Object.entries(resourcesOf(gateway, 'AWS::CloudWatch::Alarm'));
    const [alarmId, alarm] = alarms.find(([id]) => id.includes('Release')) ?? [];
    expect(group).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: alarmId } }] },
      AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
    });
    const alias = Object.values(gateway.findResources('AWS::Lambda::Alias'))[0];
    expect(alias?.['UpdatePolicy']).toMatchObject({
      CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: groupId } },
    });
    expect(JSON.stringify(alarm?.Properties)).toContain('ExecutedVersion');
    expect(alarm?.Properties).toMatchObject({ Threshold: 5, EvaluationPeriods: 2, DatapointsToAlarm: 2 });
    // The version before stays: to go back to, and for its streams to end.
    const version = Object.values(resourcesOf(gateway, 'AWS::Lambda::Version'))[0];
    expect(version?.DeletionPolicy).toBe('RetainExceptOnCreate');
    const atOnce = synthStage(stripped)('gateway');
    expect(resourcesOf(atOnce, 'AWS::CodeDeploy::DeploymentGroup')).toEqual({});
  });

  it('logs one line a request without query string, header or body', () => {
    const stage = onlyResource(gateway, 'AWS::ApiGateway::Stage').Properties;
    const { Format } = stage['AccessLogSetting'] as { Format: string };
    expect(JSON.parse(Format)).toMatchObject({
      requestId: '$context.requestId',
      resourcePath: '$context.resourcePath',
    });
    // A service key may be in the path.
    expect(Format).not.toContain('$context.path');
    expect(Format).not.toMatch(/query|header|authorizer|apiKey|requestOverride|integrationErrorMessage/i);
    expect(stage['MethodSettings']).toEqual([
      expect.objectContaining({
        LoggingLevel: 'OFF',
        DataTraceEnabled: false,
        MetricsEnabled: false,
        ThrottlingRateLimit: 5_000,
        ThrottlingBurstLimit: 2_500,
      }),
    ]);
  });

  it('responds in the one error shape also where API Gateway responds itself', () => {
    const { responses } = apiDefinition(gateway);
    expect(responses.length).toBeGreaterThan(20);
    for (const { template } of responses)
      expect(errorBodySchema.parse(JSON.parse(template)).error.requestId).toBe('$context.requestId');
    const types = responses.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX', 'THROTTLED', 'WAF_FILTERED']));
    const tooLarge = responses.find(({ type }) => type === 'REQUEST_TOO_LARGE');
    expect(tooLarge).toMatchObject({ statusCode: '413' });
    expect(JSON.stringify(tooLarge)).toMatch(/4\.5 MB.*container.*docs\/cost-and-scale\.md/);
  });

  it('lets pages that may call it read those errors, too, and leaves preflights to its function', () => {
    const { methods, responses } = apiDefinition(synthStage(filledIn)('gateway'));
    const name = 'gatewayresponse.header.Access-Control-Allow-Origin';
    expect(new Set(responses.map(({ headers }) => headers[name]))).toEqual(new Set(["'https://chat.acme.dev'"]));
    expect(methods.map(({ route }) => route)).toEqual(['ANY /', 'ANY /{proxy+}']);
    for (const { headers } of apiDefinition(gateway).responses) expect(headers).not.toHaveProperty([name]);
  });

  it('ends silence itself, before API Gateway breaks the connection after five minutes', () => {
    const { Variables } = proxy['Environment'] as { Variables: Record<string, string> };
    for (const name of ['HEADERS_TIMEOUT_MS', 'IDLE_TIMEOUT_MS']) expect(Number(Variables[name])).toBeLessThan(300_000);
    expect(() => parseStageSettings('prod', { gateway: { headersTimeoutMs: 300_000 } })).toThrow(
      'stages.prod.gateway.headersTimeoutMs: must be at most 295000',
    );
  });

  it('generates its fingerprint key and passes its location, not its value', () => {
    const [secretId] = Object.keys(resourcesOf(gateway, 'AWS::SecretsManager::Secret'));
    const secret = onlyResource(gateway, 'AWS::SecretsManager::Secret').Properties;
    expect(secret['GenerateSecretString']).toMatchObject({ PasswordLength: 64 });
    const { Variables } = proxy['Environment'] as { Variables: Record<string, unknown> };
    expect(Variables['FINGERPRINT_SECRET_ID']).toEqual({ Ref: secretId });
  });
});

describe('a provider on its own', () => {
  const gateway = synthStage({ gateway: { isolatedProviders: { openai: { reservedConcurrency: 300 } } } })('gateway');

  it('has its own host, API and function, and leaves the rest to the others', () => {
    const hosts = propertiesOf(resourcesOf(gateway, 'AWS::ApiGateway::DomainName')).map(({ DomainName }) => DomainName);
    expect(hosts.sort()).toEqual(['*.gateway.example.com', 'openai.gateway.example.com']);
    const names = propertiesOf(resourcesOf(gateway, 'AWS::ApiGateway::RestApi')).map(({ Name }) => Name);
    expect(names.sort()).toEqual(['ai-spend-dev-gateway', 'ai-spend-dev-gateway-openai']);
    const reserved = propertiesOf(resourcesOf(gateway, 'AWS::Lambda::Function')).map(
      ({ ReservedConcurrentExecutions }) => ReservedConcurrentExecutions,
    );
    expect(reserved).toEqual([undefined, 300]);
  });

  // https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html: one of either in 30 seconds, to make and to delete.
  it.each(['AWS::ApiGateway::DomainName', 'AWS::ApiGateway::RestApi'])('comes after the others: %s', (type) => {
    const isolatedProviders = { openai: {}, google: {} };
    const resources = resourcesOf(synthStage({ ...published, gateway: { isolatedProviders } })('gateway'), type);
    const [first = '', second = '', third = ''] = Object.keys(resources);
    const waits = ([, { DependsOn = [] }]: [string, Resource]) => DependsOn.filter((id) => id in resources);
    expect(Object.entries(resources).map(waits)).toEqual([[], [first], [second]]);
    expect(third).toMatch(/^Proxygoogle/);
  });

  it('shares certificate, firewall and fingerprint key', () => {
    for (const type of ['AWS::CertificateManager::Certificate', 'AWS::WAFv2::WebACL', 'AWS::SecretsManager::Secret']) {
      expect(Object.keys(resourcesOf(gateway, type))).toHaveLength(1);
    }
    expect(Object.keys(resourcesOf(gateway, 'AWS::WAFv2::WebACLAssociation'))).toHaveLength(2);
  });
});

describe('the gateway’s firewall', () => {
  const rulesOf = (settings: object) =>
    onlyResource(synthStage(settings)('gateway'), 'AWS::WAFv2::WebACL').Properties['Rules'] as Record<
      string,
      unknown
    >[];

  it('never blocks because of a body', () => {
    const text = JSON.stringify(rulesOf({}));
    expect(text).not.toMatch(/"(Body|JsonBody)"/);
    const managed = rulesOf({}).filter(({ Statement }) =>
      JSON.stringify(Statement).includes('ManagedRuleGroupStatement'),
    );
    expect(managed.map(({ Name }) => Name)).toEqual([
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesKnownBadInputsRuleSet',
    ]);
    expect(managed[0]).toMatchObject({ OverrideAction: { Count: {} } });
    expect(managed[1]).toMatchObject({
      Statement: {
        ManagedRuleGroupStatement: {
          RuleActionOverrides: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'].map((Name) => ({
            Name,
            ActionToUse: { Count: {} },
          })),
        },
      },
    });
  });

  it('slows those who try malformed keys, but neither health checks nor keys in other places', () => {
    const [rule] = rulesOf(filledIn);
    expect(rule).toMatchObject({
      Name: 'MalformedServiceKeys',
      Action: { Block: { CustomResponse: { ResponseCode: 429 } } },
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit: 50, EvaluationWindowSec: 300 } },
    });
    // biome-ignore lint/suspicious/noExplicitAny: a template.
    const { Statements } = (rule as any).Statement.RateBasedStatement.ScopeDownStatement.AndStatement;
    const patterns = (Statements as Record<string, Record<string, Record<string, Record<string, unknown>>>>[]).map(
      ({ NotStatement }) => {
        const { FieldToMatch, RegexString } = NotStatement!['Statement']!['RegexMatchStatement']!;
        return { field: FieldToMatch, pattern: new RegExp(RegexString as string) };
      },
    );
    const key = newAccountKey((size) => new Uint8Array(size).fill(1));
    const passes = (field: object, value: string) =>
      patterns.some((each) => JSON.stringify(each.field) === JSON.stringify(field) && each.pattern.test(value));
    const headerField = (Name: string) => ({ SingleHeader: { Name } });
    expect(passes(headerField('x-service-key'), key)).toBe(true);
    expect(passes(headerField('x-service-key'), `${key}x`)).toBe(false);
    for (const start of ['', '/live/gateway/openai']) {
      for (const path of ['/health', `/${key}`, `/${key}/v1/models`])
        expect([start + path, passes({ UriPath: {} }, start + path)]).toEqual([start + path, true]);
      for (const path of ['/health/x', `/v1/${key}`, `/${key}x/v1`])
        expect([start + path, passes({ UriPath: {} }, start + path)]).toEqual([start + path, false]);
    }
    for (const name of ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']) {
      expect([name, passes(headerField(name), `Bearer ${key}:sk`)]).toEqual([name, true]);
      expect(passes(headerField(name), 'Bearer sk')).toBe(false);
    }
    // Handshakes of WebSockets: docs/clients.md.
    for (const protocols of [`realtime, openai-insecure-api-key.${key}.sk`, `openai-insecure-api-key.${key}:sk`])
      expect(passes(headerField('sec-websocket-protocol'), protocols)).toBe(true);
    expect(passes(headerField('sec-websocket-protocol'), 'realtime, openai-insecure-api-key.sk')).toBe(false);
    for (const query of [`key=${key}:AIza`, `alt=b&key=${key}%3AAIza`, `access_token=${key}:auth_tokens/a`])
      expect([query, passes({ QueryString: {} }, query)]).toEqual([query, true]);
    for (const query of ['key=AIza', `monkey=${key}:AIza`]) expect(passes({ QueryString: {} }, query)).toBe(false);
    expect(passes({ Method: {} }, 'OPTIONS')).toBe(true);
  });

  it('keeps no samples: they show headers', () => {
    for (const { VisibilityConfig } of rulesOf({})) {
      expect(VisibilityConfig).toMatchObject({ SampledRequestsEnabled: false, CloudWatchMetricsEnabled: true });
    }
  });

  it('can be left out', () => {
    expect(resourcesOf(synthStage(stripped)('gateway'), 'AWS::WAFv2::WebACL')).toEqual({});
  });
});
