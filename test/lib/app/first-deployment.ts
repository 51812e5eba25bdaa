import { describe, expect, it } from '@jest/globals';
import {
  apiDefinition,
  filledIn,
  inContainers,
  published,
  resourcesOf,
  stackNames,
  stacks,
  synthStage,
  withoutDomains,
} from '../synth-stage.ts';

const ofAll = (settings: object, accepts: (resource: { DeletionPolicy?: string; Type: string }) => boolean): string[] =>
  stacks.flatMap((stack) => {
    const resources = Object.values(synthStage(settings)(stack).toJSON()['Resources']) as { Type: string }[];
    return resources.filter(accepts).map(({ Type }) => `${stack}: ${Type}`);
  });

describe('a first deployment', () => {
  it.each([
    ['by default', {}],
    ['filled in', filledIn],
    ['in containers', inContainers],
  ])('that fails leaves only what is protected against deletion, or the whole account shares: %s', (_, settings) => {
    expect(ofAll(settings, ({ DeletionPolicy }) => DeletionPolicy === 'Retain').sort()).toEqual([
      'data: AWS::ApiGateway::Account',
      'data: AWS::DynamoDB::Table',
      'data: AWS::IAM::Role',
      'identity: AWS::Cognito::UserPool',
    ]);
    const emptied = ofAll(settings, ({ DeletionPolicy }) => DeletionPolicy === 'RetainExceptOnCreate');
    for (const type of ['Logs::LogGroup', 'SecretsManager::Secret', 'SQS::Queue', 'S3::Bucket'])
      expect(emptied.filter((name) => name.endsWith(`AWS::${type}`))).not.toEqual([]);
  });

  it('needs no domain: outputs have the addresses, with the provider in the path', () => {
    // In OpenAPI 3, API Gateway reads this of a server and nowhere else.
    const ownAddress = (setting: object) => [{ 'x-amazon-apigateway-endpoint-configuration': setting }];
    const templates = synthStage(withoutDomains);
    const made = stackNames.flatMap((stack) => Object.values(templates(stack).toJSON()['Resources'] ?? {}));
    const types = (made as { Type: string }[]).map(({ Type }) => Type);
    expect(types.filter((type) => /Certificate|DomainName|Route53|CloudFront|WAFv2/.test(type))).toEqual([]);
    expect(() => templates('web')).toThrow();
    for (const [stack, path] of [
      ['gateway', '/gateway/{provider}'],
      ['dashboard-api', '/api'],
    ] as const) {
      const { Value } = Object.values(templates(stack).findOutputs('Url'))[0] ?? {};
      expect(JSON.stringify(Value)).toMatch(new RegExp(`execute-api.*live.*${path}"`));
      const definition = apiDefinition(templates(stack));
      expect(definition.servers).toEqual(ownAddress({ disableExecuteApiEndpoint: false }));
    }
    const withDomains = apiDefinition(synthStage()('gateway'));
    expect(withDomains.servers).toEqual(ownAddress({ disableExecuteApiEndpoint: true }));
  });

  it('may have the pages where CloudFront is open and there is no domain', () => {
    const config = JSON.stringify(synthStage({ ...withoutDomains, web: undefined })('web').toJSON());
    expect(config).toContain('execute-api');
    expect(config).not.toContain('dashboard.example.com');
  });

  it.each([
    ['by default', {}],
    ['with isolated providers', { ...published, gateway: { isolatedProviders: { openai: {}, google: {} } } }],
  ])('changes the log settings of API Gateway once, before any API: %s', (_, settings) => {
    expect(ofAll(settings, ({ Type }) => Type === 'AWS::ApiGateway::Account')).toEqual([
      'data: AWS::ApiGateway::Account',
    ]);
    for (const stack of ['gateway', 'dashboard-api'] as const) {
      expect(resourcesOf(synthStage(settings)(stack), 'AWS::ApiGateway::RestApi')).not.toEqual({});
      expect(JSON.stringify(synthStage(settings)(stack).toJSON())).toMatch(/ai-spend-dev-data|-data:Export/);
    }
  });
});
