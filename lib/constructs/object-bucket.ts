import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { plans } from '../../lambda/domain/billing/plans.ts';
import { ARCHIVES, EXPORTS, RETENTION_TAG } from '../../lambda/domain/object-keys.ts';
import type { Retention } from '../config.ts';
import { acknowledge } from './acknowledge.ts';

/** Archives live as long as their links are given out, and a day more. */
const ARCHIVE_DAYS = 8;

/** Exports live as long as request records on the longest plan; after a month they are read rarely. */
const planDays = [...new Set(Object.values(plans).map((plan) => plan.requestRetentionDays))];
const EXPORT_DAYS = Math.max(...planDays);
const EXPORT_BUSY_DAYS = 30;

/** Where Athena puts results of queries. They are of no account, and soon deleted. */
export const ATHENA_RESULTS = 'athena-results';
const RESULT_DAYS = 7;

/** A bucket that only roles of this app, or CloudFront, read. */
export const privateBucket = (retention: Retention) => ({
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: retention.data,
  // CloudFormation does not delete a bucket with objects in it.
  autoDeleteObjects: retention.data === RemovalPolicy.DESTROY,
});

/** The bucket of everything that functions write as objects. Kinds of objects have prefixes: see lambda/domain/object-keys.ts. */
export class ObjectBucket extends Bucket {
  constructor(scope: Construct, id: string, retention: Retention) {
    super(scope, id, {
      ...privateBucket(retention),
      lifecycleRules: [
        { id: 'unfinished', abortIncompleteMultipartUploadAfter: Duration.days(2) },
        { id: ARCHIVES, prefix: `${ARCHIVES}/`, expiration: Duration.days(ARCHIVE_DAYS) },
        {
          id: EXPORTS,
          prefix: `${EXPORTS}/`,
          expiration: Duration.days(EXPORT_DAYS),
          transitions: [
            { storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(EXPORT_BUSY_DAYS) },
          ],
        },
        // Request records of shorter plans.
        ...planDays
          .filter((days) => days < EXPORT_DAYS)
          .map((days) => ({
            id: `${EXPORTS}-${days}`,
            prefix: `${EXPORTS}/`,
            tagFilters: { [RETENTION_TAG]: String(days) },
            expiration: Duration.days(days),
          })),
        { id: ATHENA_RESULTS, prefix: `${ATHENA_RESULTS}/`, expiration: Duration.days(RESULT_DAYS) },
      ],
    });
    // Loaders follow manifests. CDK's own setting would add a function that sets it.
    (this.node.defaultChild as CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    acknowledge(this, { S1: 'Only functions of the service use it. Whom they give a link is in the audit log.' });
  }
}
