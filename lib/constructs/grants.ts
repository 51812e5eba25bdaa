import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';

/** Allows the named actions on one resource. CDK's own grants add neighbours of what is asked for; these do not. */
export const grantActions = (grantee: IGrantable, resourceArn: string, ...actions: readonly string[]): void => {
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({ effect: Effect.ALLOW, actions: [...actions], resources: [resourceArn] }),
  );
};

export const grantSend = (grantee: IGrantable, queue: Queue): void =>
  grantActions(grantee, queue.queueArn, 'sqs:SendMessage');

export const grantReadSecret = (grantee: IGrantable, secret: Secret): void =>
  grantActions(grantee, secret.secretArn, 'secretsmanager:GetSecretValue');

/** Allows actions on the objects whose keys begin with one of the prefixes. */
export const grantObjects = (
  grantee: IGrantable,
  bucket: Bucket,
  prefixes: readonly string[],
  ...actions: readonly string[]
): void => {
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      effect: Effect.ALLOW,
      actions: [...actions],
      resources: prefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    }),
  );
};
