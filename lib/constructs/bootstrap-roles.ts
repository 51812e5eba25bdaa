import { DefaultStackSynthesizer, Stack } from 'aws-cdk-lib';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';

const BOOTSTRAP_ROLES = ['deploy-role', 'file-publishing-role', 'lookup-role'];

/**
 * Lets somebody deploy to an account and region: by the roles that `cdk bootstrap` made there, and by no rights of his own.
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
