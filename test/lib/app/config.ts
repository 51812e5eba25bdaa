import { describe, expect, it } from '@jest/globals';
import { App, RemovalPolicy } from 'aws-cdk-lib';
import {
  InvalidSettings,
  missingForDeploy,
  parseStageSettings,
  readStageSettings,
  remarksForDeploy,
} from '../../../lib/config.ts';
import { withoutDomains } from '../synth-stage.ts';

const mistakes = (settings: object): string[] => {
  try {
    parseStageSettings('prod', settings);
  } catch (error) {
    if (error instanceof InvalidSettings) return error.message.split('\n');
    throw error;
  }
  return [];
};

describe('settings of a stage', () => {
  it('are complete with nothing filled in', () => {
    const settings = parseStageSettings('dev', undefined);
    expect(settings).toMatchObject({
      name: 'dev',
      gatewayDomain: 'gateway.example.com',
      dashboardDomain: 'dashboard.example.com',
      corsOrigins: [],
      retention: { logs: 90, data: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, protectedData: RemovalPolicy.RETAIN },
      gateway: {
        openEventDelaySeconds: 900,
        connectTimeoutMs: 10_000,
        headersTimeoutMs: 290_000,
        idleTimeoutMs: 290_000,
      },
    });
    expect(settings.account).toBeUndefined();
  });

  it('treat empty strings as not filled in and // keys as comments', () => {
    const blank = { '//account': 'twelve digits', account: '', hostedZone: { id: '', name: '' } };
    expect(parseStageSettings('prod', blank)).toEqual(parseStageSettings('prod', {}));
  });

  it('need no domains, mail or alarms without domains', () => {
    const settings = { ...parseStageSettings('try', withoutDomains), account: '1', region: 'eu-central-1' };
    expect(missingForDeploy(settings)).toEqual([]);
    expect(remarksForDeploy(settings)).toEqual([
      expect.stringMatching(/^Anybody who knows the address/),
      expect.stringMatching(/^Alarms reach nobody/),
      expect.stringMatching(/^Cognito sends password codes/),
      expect.stringMatching(/^removalPolicy is destroy/),
    ]);
    expect(mistakes({ customDomains: false, gateway: { compute: 'containers' } })).toEqual([
      expect.stringMatching(/^stages\.prod\.customDomains: must not be false while a host runs in containers/),
    ]);
  });

  it('take an empty object for what it says', () => {
    const { gateway } = parseStageSettings('prod', { gateway: { isolatedProviders: { openai: {} } } });
    expect(gateway.isolatedProviders).toEqual({ openai: { provisionedConcurrency: 0 } });
  });

  it('name every mistake by its path, one line each', () => {
    expect(
      mistakes({
        account: '123',
        region: 'Frankfurt',
        gatewayDomain: 'https://gateway.example.com',
        corsOrigins: ['https://app.example.com/'],
        alarmMail: 'nobody',
        logRetentionDays: 91,
        removalPolicy: 'keep',
        registration: 'public',
        gateway: {
          memoryMb: 64,
          upstreamOrigins: { openai: 'http://127.0.0.1:8080/v1' },
          hosts: {
            clouds: ['gcp'],
            own: {
              vllm: { origin: 'https://vllm.example.com', compatible: 'openai' },
              'own-vllm': { origin: 'https://10.0.0.1', compatible: 'openai' },
            },
          },
        },
      }),
    ).toEqual([
      'stages.prod.account: must be an AWS account id of 12 digits',
      'stages.prod.region: must be an AWS region, such as eu-central-1',
      'stages.prod.gatewayDomain: must be a host name in lower case without scheme or path, such as gateway.example.com',
      'stages.prod.corsOrigins.0: must be an origin, scheme and host and nothing after, such as https://app.example.com',
      "stages.prod.registration: must be 'open', 'invite' or 'closed'",
      'stages.prod.alarmMail: must be an e-mail address',
      expect.stringMatching(/^stages\.prod\.logRetentionDays: must be one of 1, 3, 5, 7, /),
      "stages.prod.removalPolicy: must be 'retain' or 'destroy'",
      'stages.prod.gateway.memoryMb: must be at least 128',
      expect.stringMatching(/^stages\.prod\.gateway\.hosts\.clouds\.0: /),
      'stages.prod.gateway.hosts.own.vllm: must be named by own- and 1 to 28 of a-z, 0-9 and "-"',
      'stages.prod.gateway.hosts.own.own-vllm.origin: must begin with https:// and have a public name, unless the row has "internal": true',
      'stages.prod.gateway.upstreamOrigins.openai: must be an origin, scheme and host and nothing after, such as https://app.example.com',
    ]);
  });

  it('refuse a name that is not a setting', () => {
    expect(mistakes({ gatewayDomian: 'gateway.example.com' })).toEqual([
      'stages.prod: Unrecognized key: "gatewayDomian"',
    ]);
  });

  it('refuse a domain outside the hosted zone', () => {
    const hostedZone = { id: 'Z0123456789ABCDEFGHIJ', name: 'example.org' };
    expect(
      mistakes({ hostedZone, gatewayDomain: 'gateway.example.org', dashboardDomain: 'dash.notexample.org' }),
    ).toEqual(['stages.prod.dashboardDomain: must lie in the hosted zone example.org, got dash.notexample.org']);
  });

  it('refuse a stage that is not in cdk.json', () => {
    const { node } = new App({ context: { stage: 'staging', stages: { dev: {}, prod: {} } } });
    expect(() => readStageSettings(node)).toThrow('stage: cdk.json has no stages.staging; it has dev, prod');
  });

  it('say what a deployment still needs', () => {
    const settings = { region: 'eu-central-1', gatewayDomain: 'ai.acme.dev' };
    expect(missingForDeploy(parseStageSettings('prod', settings))).toEqual([
      'stages.prod.account: the AWS account id to deploy to',
      'stages.prod.dashboardDomain: the domain of the dashboard API',
      'stages.prod.registration: who may register: "open" (anybody), "invite" (whom members invite) or "closed" (nobody). npm run create-owner makes the first owner',
      'stages.prod.mailFrom: the verified address that alerts are sent from',
      'stages.prod.alarmMail: the mail address that receives alarms',
    ]);
  });

  it('refuse what CloudFormation would find out late', () => {
    const web = {
      name: 'spend.acme.dev',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b-d9cb-469f-a165-70867728950e',
    };
    expect(mistakes({ dashboardDomain: 'spend.acme.dev', web })).toEqual([
      expect.stringContaining('stages.prod.web.name: must differ from dashboardDomain'),
    ]);
    const labels = {
      gatewayDomain: 'acme.dev',
      dashboardDomain: 'own-a.acme.dev',
      web: { ...web, name: 'xai.acme.dev' },
    };
    const hosts = { own: { 'own-a': { origin: 'https://a.acme.com', compatible: 'openai' } } };
    expect(mistakes({ ...labels, gateway: { hosts } })).toEqual([
      "stages.prod.dashboardDomain: must be another host than own-a.acme.dev, which is the gateway's",
      "stages.prod.web.name: must be another host than xai.acme.dev, which is the gateway's",
    ]);
    const zones = ['eu-west-1a', 'us-east-1b'];
    expect(mistakes({ region: 'eu-west-1', gateway: { availabilityZones: zones } })).toEqual([
      'stages.prod.gateway.availabilityZones: must lie in the region eu-west-1, got us-east-1b',
    ]);
    const concurrency = { reservedConcurrency: 10, provisionedConcurrency: 11 };
    expect(mistakes({ gateway: { ...concurrency, isolatedProviders: { openai: concurrency } } })).toEqual([
      'stages.prod.gateway.provisionedConcurrency: must not exceed reservedConcurrency, 10',
      'stages.prod.gateway.isolatedProviders.openai.provisionedConcurrency: must not exceed reservedConcurrency, 10',
    ]);
    const streaming = expect.stringContaining('stages.prod.region: the gateway needs Lambda response streaming');
    for (const region of ['cn-north-1', 'us-gov-west-1', 'us-iso-east-1', 'eu-isoe-west-1'])
      expect(missingForDeploy(parseStageSettings('prod', { region }))).toContainEqual(streaming);
    expect(missingForDeploy(parseStageSettings('prod', { region: 'ap-southeast-7' }))).not.toContainEqual(streaming);
    expect(mistakes({ expectedRequestsPerSecond: 6_000 })).toEqual([
      expect.stringContaining(
        'stages.prod.expectedRequestsPerSecond: must not exceed gateway.throttle.ratePerSecond, 5000',
      ),
    ]);
    expect(mistakes({ expectedRequestsPerSecond: 6_000, gateway: { compute: 'containers' } })).toEqual([]);
    const server = { origin: 'https://inference.acme.dev', compatible: 'openai' };
    const own = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`own-${i}`, server]));
    expect(mistakes({ gateway: { hosts: { own: own(25) } } })).toEqual([]);
    expect(mistakes({ gateway: { hosts: { own: own(50) } } })).toEqual([
      expect.stringMatching(/^stages\.prod\.gateway\.hosts: .* at most 3000 bytes/),
    ]);
    expect(mistakes({ gateway: { compute: 'containers', hosts: { own: own(50) } } })).toEqual([]);
    const names = (count: number) => Array.from({ length: count }, (_, i) => `customer-${i}.internal.acme.dev`);
    expect(mistakes({ webhooks: { internalHosts: names(80) } })).toEqual([]);
    expect(mistakes({ webhooks: { internalHosts: names(100) } })).toEqual([
      expect.stringMatching(/^stages\.prod\.webhooks: .* at most 3000 bytes/),
    ]);
    expect(mistakes({ corsOrigins: names(90).map((name) => `https://${name}`) })).toEqual([
      expect.stringMatching(/^stages\.prod\.corsOrigins: .* at most 3000 bytes/),
      expect.stringMatching(/^stages\.prod\.webhooks: .* at most 3000 bytes/),
    ]);
    const domain = (characters: number) => `${'a'.repeat(characters - 9)}.acme.dev`;
    expect(mistakes({ gatewayDomain: domain(62), dashboardDomain: domain(64) })).toEqual([]);
    expect(mistakes({ gatewayDomain: domain(63), dashboardDomain: domain(65) })).toEqual([
      expect.stringMatching(/^stages\.prod\.gatewayDomain: must have at most 62 characters/),
      expect.stringMatching(/^stages\.prod\.dashboardDomain: must have at most 64 characters/),
    ]);
  });

  it('with an address for the dashboard need no remark', () => {
    const web = {
      name: 'app.acme.dev',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b-d9cb-469f-a165-70867728950e',
    };
    expect(remarksForDeploy(parseStageSettings('prod', { web, mail: { cognito: true } }))).toEqual([]);
    expect(remarksForDeploy(parseStageSettings('prod', { web, removalPolicy: 'destroy' }))).toHaveLength(2);
  });

  it('suffice for a deployment once these are there', () => {
    const settings = {
      account: '123456789012',
      region: 'eu-central-1',
      gatewayDomain: 'ai.acme.dev',
      dashboardDomain: 'spend.acme.dev',
      mailFrom: 'alerts@acme.dev',
      alarmMail: 'ops@acme.dev',
      registration: 'invite',
    };
    expect(missingForDeploy(parseStageSettings('prod', settings))).toEqual([]);
  });
});
