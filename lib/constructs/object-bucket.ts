import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { ARCHIVES } from '../../lambda/domain/object-keys.ts';
import type { Retention } from '../config.ts';

/** Archives live as long as their links are given out, and a day more. */
const ARCHIVE_DAYS = 8;

/** The bucket of everything that functions write as objects. Kinds of objects have prefixes: see lambda/domain/object-keys.ts. */
export class ObjectBucket extends Bucket {
  constructor(scope: Construct, id: string, retention: Retention) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      lifecycleRules: [
        { id: 'unfinished', abortIncompleteMultipartUploadAfter: Duration.days(2) },
        { id: ARCHIVES, prefix: `${ARCHIVES}/`, expiration: Duration.days(ARCHIVE_DAYS) },
      ],
      removalPolicy: retention.data,
      // CloudFormation does not delete a bucket with objects in it.
      autoDeleteObjects: retention.data === RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Only functions of the service use it. Whom they give a link is in the audit log.',
    });
  }
}
