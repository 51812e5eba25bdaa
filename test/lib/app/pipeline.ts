import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { z } from 'zod';
import { deliveryAsked, readPipeline } from '../../../lib/delivery.ts';
import { PipelineStack } from '../../../lib/stacks/pipeline.ts';
import { appWithoutValidation, onlyResource, resourcesOf } from '../synth-stage.ts';

const stage = (name: string) => ({
  account: '111111111111',
  region: 'eu-central-1',
  gatewayDomain: `ai.${name}.acme.dev`,
  dashboardDomain: `spend.${name}.acme.dev`,
  alarmMail: 'ops@acme.dev',
  registration: 'open',
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

const buildSpecSchema = z.object({
  env: z.object({ 'secrets-manager': z.record(z.string(), z.string()) }).optional(),
  phases: z.object({ build: z.object({ commands: z.array(z.string()) }) }),
});
const projectSchema = z.object({
  Environment: z.object({ Image: z.string() }),
  Source: z.object({ BuildSpec: z.string().transform((text) => buildSpecSchema.parse(JSON.parse(text))) }),
});

const stackOf = (app: App) => new PipelineStack(app, 'ai-spend-pipeline', readPipeline(app.node));

describe('the pipeline', () => {
  const template = Template.fromStack(stackOf(appWithoutValidation({ pipeline, stages })));
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

  const projects = Object.values(resourcesOf(template, 'AWS::CodeBuild::Project')).map(({ Properties }) =>
    projectSchema.parse(Properties),
  );
  const commands = projects.flatMap(({ Source: { BuildSpec } }) => BuildSpec.phases.build.commands);

  it('calls the scripts that people call', () => {
    expect([...commands].sort()).toEqual([
      'bash .ci/run',
      'npm run deploy -- --stage prod --require-approval never',
      'npm run deploy -- --stage staging --require-approval never',
      'npm run smoke -- --stage prod',
      'npm run smoke -- --stage staging',
    ]);
  });

  it('runs where the tests’ emulator does', () => {
    for (const { Environment } of projects) expect(Environment.Image).toContain('x86_64');
  });

  it('hands the canary account to the smoke test of its stage, and to nothing else', () => {
    const secrets = projects.flatMap(({ Source: { BuildSpec } }) =>
      Object.values(BuildSpec.env?.['secrets-manager'] ?? {}).map((secret) => [
        BuildSpec.phases.build.commands,
        secret,
      ]),
    );
    expect(secrets).toEqual(
      ['serviceKey', 'email', 'password'].map((name) => [
        ['npm run smoke -- --stage staging'],
        `canary/staging:${name}`,
      ]),
    );
    const policies = Object.entries(resourcesOf(template, 'AWS::IAM::Policy'));
    const readers = policies.filter(([, policy]) => JSON.stringify(policy).includes('secretsmanager:'));
    expect(readers.map(([id]) => id)).toEqual([expect.stringMatching(/^SmokeStagingRole/)]);
    expect(JSON.stringify(readers)).toContain(':secret:canary/staging-??????');
  });

  it('has a wildcard for its own artifacts and logs, and for the end of a secret’s name, alone', () => {
    const statements = Object.values(resourcesOf(template, 'AWS::IAM::Policy')).flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: { Resource: unknown }[] }).Statement,
    );
    const wild = statements
      .flatMap(({ Resource }) => [Resource].flat())
      .filter((each) => /[*?]/.test(JSON.stringify(each)));
    for (const resource of wild)
      expect(JSON.stringify(resource)).toMatch(
        /\["Artifacts\w+","Arn"\]\},"\/\*"|log-group:\/aws\/codebuild\/.*":\*"|\?{6}"/,
      );
    expect(wild.length).toBeGreaterThan(0);
  });

  it('and GitHub Actions take the same steps', () => {
    const runs = ['check', 'deliver-stage'].flatMap((name) =>
      [...readFileSync(`.github/workflows/${name}.yml`, 'utf8').matchAll(/run: ((?:npm|bash) .*)/g)].map(
        ([, run = '']) => run,
      ),
    );
    const ofStages = new Set(commands.map((command) => command.replace(/--stage \w+/, '--stage "$STAGE"')));
    expect(new Set(runs)).toEqual(new Set(['npm ci --no-audit --no-fund', ...ofStages]));
    const deliver = readFileSync('.github/workflows/deliver.yml', 'utf8');
    expect([...deliver.matchAll(/^ {6}stage: (\w+)/gm)].map(([, name]) => name)).toEqual(['staging', 'prod']);
  });

  it('whose actions are pinned to a commit, since a tag can be moved', () => {
    const folder = '.github/workflows';
    const uses = readdirSync(folder).flatMap((name) =>
      [...readFileSync(`${folder}/${name}`, 'utf8').matchAll(/uses: (.*)/g)].map(([, what = '']) => what),
    );
    const ofOthers = uses.filter((what) => !what.startsWith('./'));
    expect(ofOthers.length).toBeGreaterThan(0);
    for (const what of ofOthers) expect(what).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const actions = new Set(ofOthers.map((what) => what.split('@')[0]));
    expect(new Set(ofOthers).size).toBe(actions.size);
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
});

describe('the pipeline of a stage in containers', () => {
  const inContainers = {
    ...stages,
    prod: { ...stages.prod, account: '333333333333', gateway: { compute: 'containers' } },
  };
  const template = Template.fromStack(stackOf(appWithoutValidation({ pipeline, stages: inContainers })));

  it('has Docker, and the role that publishes images, for its deployment alone', () => {
    const privileged = Object.entries(resourcesOf(template, 'AWS::CodeBuild::Project')).filter(
      ([, { Properties }]) => (Properties['Environment'] as { PrivilegedMode: boolean }).PrivilegedMode,
    );
    expect(privileged.map(([id]) => id)).toEqual([expect.stringMatching(/^DeployProd/)]);
    const publishers = JSON.stringify(resourcesOf(template, 'AWS::IAM::Policy')).match(/cdk-\w+-image-[^"]+/g);
    expect(publishers).toEqual(['cdk-hnb659fds-image-publishing-role-333333333333-eu-central-1']);
  });
});

describe('without its settings', () => {
  it('there is no pipeline', () => {
    expect(deliveryAsked(appWithoutValidation({}).node)).toBeUndefined();
    expect(() => deliveryAsked(appWithoutValidation({ app: 'pipelines' }).node)).toThrow(
      'app: must be pipeline or github',
    );
  });

  it('asking for one says what is missing', () => {
    expect(() => readPipeline(appWithoutValidation({}).node)).toThrow(
      [
        'Fill in cdk.json before deploying this:',
        'pipeline.account: the AWS account that the pipeline runs in, 12 digits',
        'pipeline.region: the AWS region that the pipeline runs in, such as eu-central-1',
        'pipeline.connectionArn: the ARN of a connection to the sources (CodeConnections), made and confirmed by hand',
        'pipeline.repository: where the sources are: owner/name',
      ].join('\n'),
    );
    expect(() => readPipeline(appWithoutValidation({ pipeline, stages: { prod: {} } }).node)).toThrow(
      'pipeline.stages: cdk.json has no stages.staging',
    );
    expect(() => readPipeline(appWithoutValidation({ pipeline, stages: { ...stages, prod: {} } }).node)).toThrow(
      'stages.prod.account',
    );
  });
});
