import { type App, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { OidcProviderNative, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { grantDeployments } from '../constructs/bootstrap-roles.ts';
import type { DeliveredStage, Delivery, GithubSettings } from '../delivery.ts';

interface GithubTrustStackProps extends StackProps {
  readonly repository: string;
  /** Those of this account. */
  readonly stages: readonly DeliveredStage[];
  /** The account has GitHub's provider already. */
  readonly hasProvider: boolean;
}

const ISSUER = 'token.actions.githubusercontent.com';

/**
 * The roles that .github/workflows/deliver-stage.yml takes, one for each stage of an account. A role is for jobs of one repository in
 * one environment alone: no other branch, pull request, fork or stage gets it, and the environment's reviewers stand before it.
 */
class GithubTrustStack extends Stack {
  constructor(scope: Construct, id: string, { repository, stages, hasProvider, ...props }: GithubTrustStackProps) {
    super(scope, id, props);
    const providerArn = hasProvider
      ? this.formatArn({ service: 'iam', region: '', resource: 'oidc-provider', resourceName: ISSUER })
      : new OidcProviderNative(this, 'Provider', { url: `https://${ISSUER}`, clientIds: ['sts.amazonaws.com'] })
          .oidcProviderArn;
    for (const stage of stages) {
      const role = new Role(this, `Deliver-${stage.name}`, {
        description: `GitHub delivers ${stage.name} from ${repository}`,
        assumedBy: new WebIdentityPrincipal(providerArn, {
          StringEquals: {
            [`${ISSUER}:aud`]: 'sts.amazonaws.com',
            [`${ISSUER}:sub`]: `repo:${repository}:environment:${stage.name}`,
          },
        }),
      });
      grantDeployments(role, this, stage);
      new CfnOutput(this, `RoleArn-${stage.name}`.replaceAll('-', ''), {
        description: `AWS_ROLE_ARN of the environment ${stage.name}`,
        value: role.roleArn,
      });
    }
  }
}

/** One stack for each account that stages are delivered to. */
export const githubTrust = (app: App, { settings, stages }: Delivery<GithubSettings>): GithubTrustStack[] =>
  Object.entries(Object.groupBy(stages, ({ account }) => account)).map(
    ([account, ofAccount = []]) =>
      new GithubTrustStack(app, `ai-spend-github-${account}`, {
        env: { account, region: ofAccount[0]?.region ?? '' },
        repository: settings.repository,
        stages: ofAccount,
        hasProvider: settings.accountsWithProvider.includes(account),
      }),
  );
