import { DefaultStackSynthesizer, type Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { grantActions } from './grants.ts';

const BOOTSTRAP_ROLES = ['deploy-role', 'file-publishing-role', 'lookup-role'];
const IMAGE_ROLE = 'image-publishing-role';

export interface DeploymentTarget {
  readonly account: string;
  readonly region: string;
  /** A deployment builds and publishes the container's image. */
  readonly publishesImage: boolean;
}

/**
 * Allows deployments to an account and region through the roles that `cdk bootstrap` made there, without further rights.
 */
export const grantDeployments = (
  grantee: IGrantable,
  scope: Stack,
  { account, region, publishesImage }: DeploymentTarget,
): void => {
  const qualifier = DefaultStackSynthesizer.DEFAULT_QUALIFIER;
  const roles = [...BOOTSTRAP_ROLES, ...(publishesImage ? [IMAGE_ROLE] : [])];
  grantActions(
    grantee,
    roles.map((role) => `arn:${scope.partition}:iam::${account}:role/cdk-${qualifier}-${role}-${account}-${region}`),
    'sts:AssumeRole',
  );
};
