import { describe, expect, it } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readGithub } from '../../../lib/delivery.ts';
import { githubTrust } from '../../../lib/stacks/github-trust.ts';
import { appWithoutValidation, onlyResource, resourcesOf } from '../synth-stage.ts';

const stage = (name: string, account: string) => ({
  account,
  region: 'eu-central-1',
  gatewayDomain: `ai.${name}.acme.dev`,
  dashboardDomain: `spend.${name}.acme.dev`,
  alarmMail: 'ops@acme.dev',
  registration: 'open',
  mailFrom: 'alerts@acme.dev',
});

const stacksWith = (accounts: readonly [string, string], github: object = {}) => {
  const [staging, prod] = accounts;
  const context = {
    github: { repository: 'acme/ai-spend', ...github },
    stages: { staging: stage('staging', staging), prod: stage('prod', prod) },
  };
  const app = appWithoutValidation(context);
  return githubTrust(app, readGithub(app.node));
};

const trustOf = (template: Template) =>
  Object.values(resourcesOf(template, 'AWS::IAM::Role')).map(
    ({ Properties }) => Properties['AssumeRolePolicyDocument'],
  );

const trustIn = (environment: string) => ({
  Statement: [
    expect.objectContaining({
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: {
        StringEquals: {
          'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
          'token.actions.githubusercontent.com:sub': `repo:acme/ai-spend:environment:${environment}`,
        },
      },
    }),
  ],
});

describe('what GitHub is trusted with', () => {
  const stacks = stacksWith(['111111111111', '222222222222']);
  const [staging, prod] = stacks.map((stack) => Template.fromStack(stack)) as [Template, Template];

  it('is one environment of one repository for each stage, in the stage’s account', () => {
    expect(stacks.map(({ account }) => account)).toEqual(['111111111111', '222222222222']);
    expect(trustOf(staging)).toEqual([expect.objectContaining(trustIn('staging'))]);
    expect(trustOf(prod)).toEqual([expect.objectContaining(trustIn('prod'))]);
  });

  it('is to take the roles that deployments are made with, and nothing else', () => {
    const { Statement } = onlyResource(prod, 'AWS::IAM::Policy').Properties['PolicyDocument'] as {
      Statement: { Action: unknown }[];
    };
    expect(Statement.map(({ Action }) => Action)).toEqual(['sts:AssumeRole']);
    const roles = JSON.stringify(Statement).match(/:role\/[^"]+/g);
    expect(roles).toEqual(
      ['deploy', 'file-publishing', 'lookup'].map(
        (role) => `:role/cdk-hnb659fds-${role}-role-222222222222-eu-central-1`,
      ),
    );
  });

  it('is one provider where stages share an account, and none where the account has it', () => {
    const shared = stacksWith(['111111111111', '111111111111']).map((stack) => Template.fromStack(stack));
    expect(shared).toHaveLength(1);
    expect(trustOf(shared[0] as Template)).toEqual(
      ['staging', 'prod'].map((name) => expect.objectContaining(trustIn(name))),
    );
    shared[0]?.resourceCountIs('AWS::IAM::OIDCProvider', 1);
    const [known] = stacksWith(['111111111111', '222222222222'], { accountsWithProvider: ['111111111111'] });
    if (known === undefined) throw new Error('no stack');
    const template = Template.fromStack(known);
    template.resourceCountIs('AWS::IAM::OIDCProvider', 0);
    expect(JSON.stringify(trustOf(template))).toContain(
      ':iam::111111111111:oidc-provider/token.actions.githubusercontent.com',
    );
  });

  it('is asked for where it is not filled in', () => {
    const { node } = new App({ context: { github: { repository: '' } } });
    expect(() => readGithub(node)).toThrow('github.repository: where the sources are: owner/name');
  });
});
