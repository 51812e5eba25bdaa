import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, type CfnElement, DefaultStackSynthesizer, DockerImage, type Stack } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { currentWebBuild } from '../../web/current-build.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { shown } from '../constructs/grants.ts';

const WEB = join(import.meta.dirname, '../../web');

/** The built pages, made when they are asked for: not where a synthesis leaves bundles out, as tests do. */
export const webAssets = (): ISource =>
  Source.asset(WEB, {
    exclude: ['dist', '.dist-*'],
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Asked for by the type alone: the build on this machine is always there.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle: (folder) => {
          cpSync(currentWebBuild(), folder, { recursive: true });
          return true;
        },
      },
    },
  });

/** CDK's own function copies the pages: CDK writes its rights, and it runs at deployments alone. */
export const acknowledgeDeployment = (stack: Stack, bucket: IBucket): void => {
  const [partition, account, region] = [
    shown(stack.partition, 'Partition'),
    shown(stack.account, 'AccountId'),
    shown(stack.region, 'Region'),
  ];
  const staging = `cdk-${DefaultStackSynthesizer.DEFAULT_QUALIFIER}-assets-${account}-${region}`;
  const wildcards = [
    ...['GetObject', 'GetBucket', 'List', 'DeleteObject', 'Abort'].map((action) => `Action::s3:${action}*`),
    `Resource::arn:${partition}:s3:::${staging}/*`,
    `Resource::<${stack.getLogicalId(bucket.node.defaultChild as CfnElement)}.Arn>/*`,
  ];
  const basic = 'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';
  const rules = ['L1', `IAM4[${basic}]`, ...wildcards.map((what) => `IAM5[${what}]`)];
  const reason = 'CDK’s own function, which copies the built pages from its bucket into theirs.';
  acknowledge(stack, Object.fromEntries(rules.map((rule) => [rule, reason])));
};
