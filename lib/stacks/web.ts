import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { ASSET_CACHE_CONTROL, PAGE_CACHE_CONTROL } from '../../web/security-headers.ts';
import type { StageSettings } from '../config.ts';
import { acknowledgeDeployment, webAssets } from './web-assets.ts';
import { webDistribution } from './web-distribution.ts';

interface WebStackProps extends StackProps {
  readonly settings: StageSettings;
}

const ASSETS = 'assets/*';

/** The web dashboard: built pages in a private bucket behind CloudFront, and one JSON file with the address of the API. */
export class WebStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: WebStackProps) {
    super(scope, id, props);
    const pages = new Bucket(this, 'Pages', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: settings.retention.data,
      // CloudFormation does not delete a bucket with objects in it.
      autoDeleteObjects: settings.retention.data === RemovalPolicy.DESTROY,
    });
    // CDK's class and interface differ in whether a member may be undefined.
    const bucket = pages as IBucket;
    Validations.of(pages).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Public files that only CloudFront reads: there is no access to audit.',
    });
    const apiOrigin = `https://${settings.dashboardDomain}`;
    const distribution = webDistribution(this, {
      name: `ai-spend-${settings.name}-${this.region}`,
      bucket,
      apiOrigin,
      domain: settings.web,
    });
    this.#deploy(bucket, webAssets(), {
      apiUrl: `${apiOrigin}/api`,
      gatewayUrl: `https://{provider}.${settings.gatewayDomain}`,
      mockProviders: false,
    });
    this.#name(distribution, settings);
  }

  /** Files with a hash in their name come first, so that a page never names a missing one. Old files stay for open tabs. */
  #deploy(destinationBucket: IBucket, pages: ISource, config: object) {
    const assets = new BucketDeployment(this, 'Assets', {
      destinationBucket,
      sources: [pages],
      exclude: ['*'],
      include: [ASSETS],
      cacheControl: [CacheControl.fromString(ASSET_CACHE_CONTROL)],
      prune: false,
    });
    const entry = new BucketDeployment(this, 'Entry', {
      destinationBucket,
      sources: [pages, Source.jsonData('config.json', config)],
      exclude: [ASSETS],
      cacheControl: [CacheControl.fromString(PAGE_CACHE_CONTROL)],
      prune: false,
    });
    entry.node.addDependency(assets);
    acknowledgeDeployment(this, destinationBucket);
  }

  #name(distribution: Distribution, { web, hostedZone }: StageSettings) {
    if (web !== undefined && hostedZone !== undefined) {
      const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', {
        hostedZoneId: hostedZone.id,
        zoneName: hostedZone.name,
      });
      const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution));
      // The dot at the end makes the name absolute; otherwise the zone's name is appended.
      new ARecord(this, 'Alias', { zone, recordName: `${web.name}.`, target });
      new AaaaRecord(this, 'AliasV6', { zone, recordName: `${web.name}.`, target });
      return;
    }
    new CfnOutput(this, 'Target', {
      description:
        web === undefined
          ? 'Where the dashboard is: put https:// and this into corsOrigins and dashboardUrl'
          : `Make ${web.name} a CNAME of this`,
      value: distribution.distributionDomainName,
    });
  }
}
