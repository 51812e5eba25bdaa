import { DefaultStackSynthesizer, Stack } from 'aws-cdk-lib';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';

const BOOTSTRAP_ROLES = ['deploy-role', 'file-publishing-role', 'lookup-role'];

/**
 * Allows deployments to an account and region through the roles that `cdk bootstrap` made there, without further rights.
 */
export const grantDeployments = (
  grantee: IGrantable,
  scope: Stack,
  { account, region }: { readonly account: string; readonly region: string },
): void => {
  const qualifier = DefaultStackSynthesizer.DEFAULT_QUALIFIER;
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      effect: Effect.ALLOW,
      actions: ['sts:AssumeRole'],
      resources: BOOTSTRAP_ROLES.map(
        (role) => `arn:${Stack.of(scope).partition}:iam::${account}:role/cdk-${qualifier}-${role}-${account}-${region}`,
      ),
    }),
  );
};
