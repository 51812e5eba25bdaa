import { Stack, Token } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/** Allows the named actions on resources. CDK's own grants add neighbours of what is asked for; these do not. */
export const grantActions = (
  grantee: IGrantable,
  resources: string | readonly string[],
  ...actions: readonly string[]
): void => {
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({ actions: [...actions], resources: [resources].flat() }),
  );
};

export const grantSend = (grantee: IGrantable, queue: Queue): void =>
  grantActions(grantee, queue.queueArn, 'sqs:SendMessage');

export const grantReadSecret = (grantee: IGrantable, secret: Secret): void =>
  grantActions(grantee, secret.secretArn, 'secretsmanager:GetSecretValue');

/** A value as cdk-nag shows it. */
export const shown = (value: string, name: string): string => (Token.isUnresolved(value) ? `<AWS::${name}>` : value);

/** The ARN of a resource in the stack's account and region, and how cdk-nag shows it. */
export const arnOf = ({ partition, region, account }: Stack, service: string, resource: string) => ({
  arn: `arn:${partition}:${service}:${region}:${account}:${resource}`,
  shown: `arn:${shown(partition, 'Partition')}:${service}:${shown(region, 'Region')}:${shown(account, 'AccountId')}:${resource}`,
});

/** Says why a role may use all resources whose names begin alike. @param shown the pattern as cdk-nag shows it */
export const acknowledgePattern = ({ grantPrincipal }: IGrantable, shown: string, reason: string): void => {
  if (!Construct.isConstruct(grantPrincipal)) throw new Error(`${shown} is granted to no role of this app`);
  acknowledge(grantPrincipal, { [`IAM5[Resource::${shown}]`]: reason });
};

/** Allows actions on the objects whose keys begin with one of the prefixes. */
export const grantObjects = (
  grantee: IGrantable,
  bucket: Bucket,
  prefixes: readonly string[],
  ...actions: readonly string[]
): void => {
  grantActions(
    grantee,
    prefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    ...actions,
  );
  // Another stack imports the bucket's name by this one.
  const exported = Stack.of(bucket).resolve(Stack.of(bucket).exportValue(bucket.bucketArn)) as Record<string, string>;
  for (const prefix of prefixes)
    acknowledgePattern(
      grantee,
      `${exported['Fn::ImportValue']}/${prefix}/*`,
      'Objects of one kind: their names are only known when they are written.',
    );
};
