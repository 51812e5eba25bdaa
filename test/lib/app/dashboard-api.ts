import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { operations, operationsOf } from '../../../lambda/dashboard/operations.ts';
import { errorBodySchema, errorCodes } from '../../../lambda/http/error-codes.ts';
import { variablesOf } from '../../../lib/constructs/handler-function.ts';
import { dashboardFunctions } from '../../../lib/stacks/dashboard-functions.ts';
import { apiDefinition, filledIn, onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

/** Clients of MCP look for metadata here, too. */
const atRoot = ['/.well-known/oauth-protected-resource/api/mcp', '/.well-known/oauth-authorization-server'];

/** Open by specification, or for API tokens, which the handler checks. Any other route without an authorizer fails the test below. */
const OPEN = [
  'POST /api/auth/register',
  'POST /api/auth/login',
  'POST /api/auth/totp',
  'POST /api/auth/totp/confirm',
  'POST /api/auth/totp/remove',
  'POST /api/auth/refresh',
  'POST /api/auth/logout',
  'POST /api/auth/forgot-password',
  'POST /api/auth/reset-password',
  'POST /api/auth/accept-invitation',
  'GET /api/auth/me',
  'POST /api/auth/token',
  'POST /api/auth/clients',
  ...atRoot.flatMap((path) => [`GET ${path}`, `GET /api${path}`]),
  'GET /api/auth/sign-on',
  'POST /api/auth/sign-on',
  'POST /api/auth/sign-on/link',
  'GET /api/machine/metrics',
  'GET /api/mcp',
  'POST /api/mcp',
  'DELETE /api/mcp',
  'GET /api/machine/savings',
  'GET /api/machine/exports/changes',
  'GET /api/machine/requests',
  'GET /api/machine/requests/{requestId}',
  'GET /api/machine/spend',
  'GET /api/machine/spend/compare',
  'GET /api/machine/spend/export.csv',
  'GET /api/machine/exports',
  'GET /api/machine/reconciliation/{provider}',
  'POST /api/billing/webhook',
  'GET /api/openapi.json',
];

const functionNames = Object.keys(dashboardFunctions) as (keyof typeof dashboardFunctions)[];

/** Types with a status that no handler has. */
const onlyByPlatform = new Set(['UNSUPPORTED_MEDIA_TYPE', 'INTEGRATION_TIMEOUT']);

describe('the dashboard API', () => {
  const api = synthStage()('dashboard-api');
  const { methods, responses, components } = apiDefinition(api);

  it('asks Cognito about the token on every other route', () => {
    for (const { route, security } of methods)
      expect([route, security]).toEqual([route, OPEN.includes(route) ? [] : [{ token: [] }]]);
    expect(components).toMatchObject({
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          'x-amazon-apigateway-authtype': 'cognito_user_pools',
          'x-amazon-apigateway-authorizer': {
            type: 'cognito_user_pools',
            providerARNs: [{ 'Fn::ImportValue': expect.stringContaining('Users') }],
          },
        },
      },
    });
  });

  it('lets API Gateway invoke every function for its own stage alone', () => {
    const invoked = new Set(
      methods.map(({ integration }) => /"(\w+Handler[0-9A-F]{8})"/.exec(JSON.stringify(integration))?.[1]),
    );
    const permissions = Object.values(resourcesOf(api, 'AWS::Lambda::Permission')).map(({ Properties }) => Properties);
    expect(permissions).toHaveLength(invoked.size);
    const [apiId] = Object.keys(resourcesOf(api, 'AWS::ApiGateway::RestApi'));
    const [stageId] = Object.keys(resourcesOf(api, 'AWS::ApiGateway::Stage'));
    for (const { FunctionName, Principal, SourceArn } of permissions) {
      expect([...invoked]).toContain((FunctionName as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'][0]);
      expect(Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(SourceArn)).toContain(`{"Ref":"${apiId}"},"/",{"Ref":"${stageId}"},"/*/*"`);
    }
  });

  it('throttles all of its requests together', () => {
    const { Properties } = onlyResource(api, 'AWS::ApiGateway::Stage');
    expect(Properties['MethodSettings']).toMatchObject([{ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 }]);
  });

  it('leaves a stack room for more: CloudFormation takes 500 resources', () => {
    expect(Object.keys(synthStage(filledIn)('dashboard-api').toJSON()['Resources']).length).toBeLessThan(330);
  });

  it('streams all responses of a function with an operation that streams, and none of the others', () => {
    const streamed = new Map(
      functionNames.flatMap((name) => {
        const ofFunction = operationsOf(name);
        const streams = ofFunction.some(({ success }) => success.streamed);
        return ofFunction.map(({ method, path, success }) => [
          `${method} /api${path}`,
          {
            responseTransferMode: streams ? 'STREAM' : undefined,
            timeoutInMillis: success.streamed ? 300_000 : 29_000,
          },
        ]);
      }),
    );
    for (const { route, integration } of methods) {
      const { responseTransferMode, timeoutInMillis, uri } = integration;
      const ofRoute = streamed.get(route.replace(/ (?=\/\.)/, ' /api'));
      expect([route, { responseTransferMode, timeoutInMillis }]).toEqual([route, ofRoute]);
      expect(JSON.stringify(uri)).toContain(responseTransferMode ? '/response-streaming-invocations' : '/invocations');
    }
    expect(functionNames.filter((name) => operationsOf(name).some(({ success }) => success.streamed))).toEqual([
      'reading',
      'machine',
    ]);
  });

  it('serves every operation that the API documents', () => {
    const documented = operations.map(({ method, path }) => `${method} /api${path}`);
    expect(methods.map(({ route }) => route).sort()).toEqual(
      [...documented, ...atRoot.map((path) => `GET ${path}`)].sort(),
    );
  });

  it('lives at its own domain alone', () => {
    expect(onlyResource(api, 'AWS::ApiGateway::RestApi').Properties['DisableExecuteApiEndpoint']).toBe(true);
    expect(onlyResource(api, 'AWS::ApiGateway::DomainName').Properties['DomainName']).toBe('dashboard.example.com');
  });

  it('has API Gateway’s own responses by code', () => {
    const codes = Object.fromEntries(
      responses.map(({ type, statusCode, template }) => [type, [Number(statusCode), JSON.parse(template).error.code]]),
    );
    expect(codes).toMatchObject({
      UNAUTHORIZED: [401, 'UNAUTHORIZED'],
      EXPIRED_TOKEN: [401, 'UNAUTHORIZED'],
      ACCESS_DENIED: [403, 'FORBIDDEN'],
      MISSING_AUTHENTICATION_TOKEN: [404, 'NOT_FOUND'],
      REQUEST_TOO_LARGE: [413, 'PAYLOAD_TOO_LARGE'],
      THROTTLED: [429, 'RATE_LIMITED'],
      INTEGRATION_FAILURE: [503, 'UNAVAILABLE'],
      // What Lambda's throttling becomes.
      API_CONFIGURATION_ERROR: [503, 'UNAVAILABLE'],
    });
  });

  it('has the statuses and the words of the handlers for them', () => {
    const handlersMessages = readdirSync('lambda', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join('lambda', name), 'utf8'))
      .join('');
    const said = new Set<string>();
    for (const { type, statusCode, template } of responses) {
      const { code, message } = errorBodySchema.parse(JSON.parse(template)).error;
      if (statusCode !== undefined && !onlyByPlatform.has(type))
        expect([message, errorCodes[code].status]).toEqual([message, Number(statusCode)]);
      if (handlersMessages.includes(`'${message}'`)) said.add(code);
    }
    // The handlers' FORBIDDEN names the missing permission.
    expect([...said].sort()).toEqual(['INTERNAL', 'NOT_FOUND', 'UNAUTHORIZED', 'UNAVAILABLE']);
  });

  it('gives the request id, and when to try again, also where API Gateway responds itself', () => {
    for (const { statusCode, headers } of responses) {
      const wait = { '429': "'10'", '503': "'5'" }[String(statusCode)];
      expect(headers).toEqual({
        'gatewayresponse.header.X-Request-Id': 'context.requestId',
        'gatewayresponse.header.Cache-Control': "'no-store'",
        ...(wait && { 'gatewayresponse.header.Retry-After': wait }),
      });
    }
  });

  it('limits the rate of sign-in by address', () => {
    const rules = onlyResource(api, 'AWS::WAFv2::WebACL').Properties['Rules'] as Record<string, unknown>[];
    expect(rules[0]).toMatchObject({
      Name: 'AuthRequests',
      Statement: {
        RateBasedStatement: {
          Limit: 1_000,
          ScopeDownStatement: { RegexMatchStatement: { RegexString: expect.any(String) } },
        },
      },
    });
  });

  it('lets the firewall judge neither what people type nor what clients leave out', () => {
    const rules = onlyResource(api, 'AWS::WAFv2::WebACL').Properties['Rules'] as { Name: string; Statement: unknown }[];
    const common = rules.find(({ Name }) => Name === 'AWSManagedRulesCommonRuleSet');
    const counting = [...JSON.stringify(common?.Statement).matchAll(/"ActionToUse":\{"Count":\{\}\},"Name":"(\w+)"/g)];
    expect(counting.map(([, name]) => name).sort()).toEqual([
      ...['CrossSiteScripting_BODY', 'CrossSiteScripting_QUERYARGUMENTS', 'CrossSiteScripting_URIPATH'],
      ...['EC2MetaDataSSRF_BODY', 'EC2MetaDataSSRF_QUERYARGUMENTS', 'EC2MetaDataSSRF_URIPATH'],
      ...['GenericLFI_BODY', 'GenericLFI_QUERYARGUMENTS', 'GenericLFI_URIPATH'],
      ...['GenericRFI_BODY', 'GenericRFI_QUERYARGUMENTS', 'GenericRFI_URIPATH'],
      ...['NoUserAgent_HEADER', 'RestrictedExtensions_QUERYARGUMENTS', 'RestrictedExtensions_URIPATH'],
      ...['SizeRestrictions_BODY', 'SizeRestrictions_QUERYSTRING'],
    ]);
  });

  it('counts at the firewall what the API limits for one client, and lets that through', () => {
    const [{ Statement }] = onlyResource(api, 'AWS::WAFv2::WebACL').Properties['Rules'] as [
      {
        Statement: {
          RateBasedStatement: { Limit: number; ScopeDownStatement: { RegexMatchStatement: { RegexString: string } } };
        };
      },
    ];
    const { Limit, ScopeDownStatement } = Statement.RateBasedStatement;
    const { RegexString } = ScopeDownStatement.RegexMatchStatement;
    const countedAt = (start: string) =>
      operations.filter(({ path }) => new RegExp(RegexString).test(`${start}/api${path}`));
    const counted = countedAt('');
    // At API Gateway's own address.
    expect(countedAt('/live')).toEqual(counted);
    expect(counted.map(({ id }) => id)).toEqual(
      operations.filter(({ rateLimits }) => rateLimits?.perClient).map(({ id }) => id),
    );
    expect(counted.map(({ path }) => path)).toEqual(expect.arrayContaining(['/auth/login', '/auth/forgot-password']));
    // An office behind one address asks for these all day.
    for (const path of ['/auth/me', '/auth/refresh', '/auth/logout'])
      expect(new RegExp(RegexString).test(`/api${path}`)).toBe(false);
    const mostInFiveMinutes = counted.reduce((sum, { rateLimits }) => sum + (rateLimits?.perClient?.requests ?? 0), 0);
    expect(Limit).toBeGreaterThanOrEqual(mostInFiveMinutes);
  });

  it('judges no query string and no path that the API allows', () => {
    const rules = JSON.stringify(onlyResource(api, 'AWS::WAFv2::WebACL').Properties['Rules']);
    const counting = [...rules.matchAll(/"ActionToUse":\{"Count":\{\}\},"Name":"(\w+)"/g)].map(([, name]) => name);
    const judging = [
      'SizeRestrictions_QUERYSTRING',
      ...['EC2MetaDataSSRF', 'GenericLFI', 'GenericRFI', 'RestrictedExtensions', 'CrossSiteScripting'].flatMap(
        (rule) => [`${rule}_QUERYARGUMENTS`, `${rule}_URIPATH`],
      ),
    ];
    expect(counting).toEqual(expect.arrayContaining(judging));
  });
});

describe('the variables of a function', () => {
  const schema = dashboardFunctions.files.environment;

  it('are those that its schema names', () => {
    const values = Object.fromEntries(['OTHER', ...Object.keys(schema.shape)].map((name) => [name, 'value']));
    expect(Object.keys(variablesOf(schema, values)).sort()).toEqual(Object.keys(schema.shape).sort());
  });

  it('fail the synthesis where one is missing', () => {
    expect(() => variablesOf(schema, { TABLE_NAME: 'table' })).toThrow('OBJECT_BUCKET');
  });
});

describe('CORS', () => {
  const allowOrigin = 'gatewayresponse.header.Access-Control-Allow-Origin';
  const errorHeaders = (template: Template) =>
    apiDefinition(template).responses.map(({ headers }) => headers[allowOrigin]);

  it('is off without origins', () => {
    const template = synthStage()('dashboard-api');
    expect(apiDefinition(template).methods.filter(({ route }) => route.startsWith('OPTIONS'))).toEqual([]);
    expect(new Set(errorHeaders(template))).toEqual(new Set([undefined]));
  });

  it('responds to preflight on every path and lets the origin read errors', () => {
    const template = synthStage(filledIn)('dashboard-api');
    const { methods } = apiDefinition(template);
    const routes = methods.map(({ route }) => route);
    for (const route of routes) expect(routes).toContain(route.replace(/^[A-Z]+/, 'OPTIONS'));
    const preflight = methods.find(({ route }) => route === 'OPTIONS /api/spend')?.integration;
    expect(preflight?.type).toBe('mock');
    expect(JSON.stringify(preflight)).toContain("'https://app.acme.dev'");
    expect(JSON.stringify(preflight)).toContain("'Authorization,Content-Type,If-None-Match'");
    expect(new Set(errorHeaders(template))).toEqual(new Set(["'https://app.acme.dev'"]));
  });

  it('tells each of several origins in a preflight that it may call', () => {
    const origins = ['https://app.acme.dev', 'https://ops.acme.dev'];
    const { methods } = apiDefinition(synthStage({ corsOrigins: origins })('dashboard-api'));
    const preflight = JSON.stringify(methods.find(({ route }) => route === 'OPTIONS /api/spend')?.integration);
    for (const origin of origins) expect(preflight).toContain(`$origin == \\"${origin}\\"`);
  });

  it('lets pages of the origins read what the firewall refuses', () => {
    const headersOf = (settings: object) => {
      const { Rules } = onlyResource(synthStage(settings)('dashboard-api'), 'AWS::WAFv2::WebACL').Properties;
      const [{ Action }] = Rules as [{ Action: { Block: { CustomResponse: { ResponseHeaders: unknown[] } } } }];
      return Action.Block.CustomResponse.ResponseHeaders;
    };
    const wait = { Name: 'Retry-After', Value: '300' };
    const allowing = (Value: string) => [
      wait,
      { Name: 'Access-Control-Allow-Origin', Value },
      { Name: 'Access-Control-Expose-Headers', Value: 'X-Request-Id, Retry-After' },
    ];
    expect(headersOf({})).toEqual([wait]);
    expect(headersOf(filledIn)).toEqual(allowing('https://app.acme.dev'));
    expect(headersOf({ corsOrigins: ['https://app.acme.dev', 'https://ops.acme.dev'] })).toEqual(allowing('*'));
  });
});
