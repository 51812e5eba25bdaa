import { describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDelivery } from '../../lib/config.ts';
import { PipelineStack } from '../../lib/stacks/pipeline.ts';
import { cdkContext, onlyResource, resourcesOf } from './synth-stage.ts';

const stage = (name: string) => ({
  account: '111111111111',
  region: 'eu-central-1',
  gatewayDomain: `ai.${name}.acme.dev`,
  dashboardDomain: `spend.${name}.acme.dev`,
  alarmMail: 'ops@acme.dev',
  mailFrom: 'alerts@acme.dev',
});
const pipeline = {
  account: '222222222222',
  region: 'eu-central-1',
  connectionArn: 'arn:aws:codeconnections:eu-central-1:222222222222:connection/1',
  repository: 'acme/ai-spend',
  canarySecrets: { staging: 'canary/staging' },
};
const stages = { staging: stage('staging'), prod: stage('prod') };

const appWith = (context: Record<string, unknown>) =>
  new App({ context: { ...cdkContext, [STRICT_CFN_VALIDATE_ERRORS]: true, ...context }, analyticsReporting: false });
const stackOf = (app: App) => {
  const delivery = readDelivery(app.node);
  if (!delivery) throw new Error('no pipeline');
  return new PipelineStack(app, 'ai-spend-pipeline', { delivery });
};

describe('the pipeline', () => {
  const app = appWith({ app: 'pipeline', pipeline, stages });
  const stack = stackOf(app);
  const template = Template.fromStack(stack);
  const steps = (
    onlyResource(template, 'AWS::CodePipeline::Pipeline').Properties['Stages'] as {
      Name: string;
      Actions: { Name: string; RunOrder: number; ActionTypeId: { Provider: string } }[];
    }[]
  ).map(({ Name, Actions }) => [
    Name,
    [...Actions].sort((a, b) => a.RunOrder - b.RunOrder).map(({ ActionTypeId }) => ActionTypeId.Provider),
  ]);

  it('checks, deploys and smoke-tests staging, and asks before production', () => {
    expect(steps).toEqual([
      ['Source', ['CodeStarSourceConnection']],
      ['Check', ['CodeBuild']],
      ['Staging', ['CodeBuild', 'CodeBuild']],
      ['Prod', ['Manual', 'CodeBuild', 'CodeBuild']],
    ]);
  });

  it('calls the scripts that people call', () => {
    const commands = Object.values(resourcesOf(template, 'AWS::CodeBuild::Project')).flatMap(({ Properties }) => {
      const { BuildSpec } = Properties['Source'] as { BuildSpec: string };
      return JSON.parse(BuildSpec).phases.build.commands as string[];
    });
    expect(commands.sort()).toEqual([
      'npm run check',
      'npm run deploy -- --stage prod --require-approval never',
      'npm run deploy -- --stage staging --require-approval never',
      'npm run smoke -- --stage prod',
      'npm run smoke -- --stage staging',
      'npm run synth',
      'npm test',
    ]);
  });

  it('deploys with the bootstrap roles of the stage’s account alone', () => {
    const assumed = JSON.stringify(resourcesOf(template, 'AWS::IAM::Policy')).match(/role\/cdk-[^"]+/g) ?? [];
    expect(new Set(assumed)).toEqual(
      new Set(
        ['deploy', 'file-publishing', 'lookup'].map(
          (role) => `role/cdk-hnb659fds-${role}-role-111111111111-eu-central-1`,
        ),
      ),
    );
  });

  it('has no finding without an explanation', () => {
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});

describe('without its settings', () => {
  it('there is no pipeline', () => {
    expect(readDelivery(appWith({}).node)).toBeUndefined();
  });

  it('asking for one says what is missing', () => {
    expect(() => readDelivery(appWith({ app: 'pipeline' }).node)).toThrow('pipeline.connectionArn');
    expect(() => readDelivery(appWith({ app: 'pipeline', pipeline, stages: { prod: {} } }).node)).toThrow(
      'cdk.json has no stages.staging',
    );
    expect(() => readDelivery(appWith({ app: 'pipeline', pipeline, stages: { ...stages, prod: {} } }).node)).toThrow(
      'stages.prod.account',
    );
  });
});
