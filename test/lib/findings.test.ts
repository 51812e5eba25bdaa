import { describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { BUNDLING_STACKS, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { parseStageSettings } from '../../lib/config.ts';
import { SpendGatewayStage } from '../../lib/stage.ts';
import { cdkContext } from './synth-stage.ts';

const everything = {
  account: '123456789012',
  region: 'eu-central-1',
  gatewayDomain: 'ai.acme.dev',
  dashboardDomain: 'spend.acme.dev',
  hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'acme.dev' },
  alarmMail: 'ops@acme.dev',
  corsOrigins: ['https://a.acme.dev', 'https://b.acme.dev'],
  gateway: {
    provisionedConcurrency: 5,
    reservedConcurrency: 500,
    isolatedProviders: { openai: { reservedConcurrency: 100 } },
  },
};

const appOf = (settings: object) => {
  const app = new App({
    context: { ...cdkContext, [BUNDLING_STACKS]: [], [STRICT_CFN_VALIDATE_ERRORS]: true },
    analyticsReporting: false,
  });
  const stage = new SpendGatewayStage(app, parseStageSettings('prod', settings));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { app, stage };
};

/** `npm run synth` checks the stage it makes; settings can make others. */
describe('no finding without an explanation', () => {
  it.each([
    ['all settings filled in', everything],
    ['no firewall, data thrown away', { firewall: { enabled: false }, removalPolicy: 'destroy' }],
  ])('with %s', (_, settings) => {
    expect(() => appOf(settings).app.synth()).not.toThrow();
  });

  it('and one with none fails the synthesis', () => {
    const { app, stage } = appOf({});
    const table = stage.node.findChild('data').node.findChild('Table').node.defaultChild;
    Object.assign(table as object, { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false } });
    expect(() => app.synth()).toThrow(/Point-in-time Recovery/);
  });
});
