import { cpSync } from 'node:fs';
import { join } from 'node:path';
import {
  AssetHashType,
  type CfnElement,
  CfnOutput,
  CrossStackReferences,
  DefaultStackSynthesizer,
  DockerImage,
  Duration,
  ReferenceStrength,
  Stack,
} from 'aws-cdk-lib';
import { Certificate, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  PriceClass,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { currentWebBuild } from '../../web/current-build.ts';
import {
  ASSET_CACHE_CONTROL,
  contentSecurityPolicy,
  FILE_PATH,
  PAGE_CACHE_CONTROL,
  PERMISSIONS_POLICY,
} from '../../web/security-headers.ts';
import type { StageSettings } from '../config.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { shown } from '../constructs/grants.ts';
import { privateBucket } from '../constructs/object-bucket.ts';
import { importZone } from '../constructs/regional-domain.ts';

const WEB = join(import.meta.dirname, '../../web');

/** The built pages, made when they are asked for: not where a synthesis leaves bundles out, as tests do. */
const webAssets = (): ISource =>
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
const acknowledgeDeployment = (stack: Stack, bucket: IBucket): void => {
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

interface WebDistributionProps {
  /** CloudFront's names are of the whole account: unique by stage and region. */
  readonly name: string;
  readonly bucket: IBucket;
  /** Origin of the dashboard API: the pages may call no other but their own. */
  readonly apiOrigin: string;
  /** Unset: CloudFront's own domain. */
  readonly domain: { readonly name: string; readonly certificate: ICertificate } | undefined;
}

const HSTS_DAYS = 730;

const TO_INDEX = `function handler(event) {
  var request = event.request;
  if (!${FILE_PATH}.test(request.uri)) request.uri = '/index.html';
  return request;
}`;

const headersPolicy = (scope: Construct, name: string, apiOrigin: string) =>
  new ResponseHeadersPolicy(scope, 'Headers', {
    responseHeadersPolicyName: name,
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: contentSecurityPolicy(apiOrigin), override: true },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.STRICT_ORIGIN_WHEN_CROSS_ORIGIN, override: true },
      // Without subdomains: a dashboard at acme.dev must not force HTTPS upon all other hosts of the company.
      strictTransportSecurity: { accessControlMaxAge: Duration.days(HSTS_DAYS), override: true },
    },
    customHeadersBehavior: {
      customHeaders: [{ header: 'Permissions-Policy', value: PERMISSIONS_POLICY, override: true }],
    },
  });

/** The pages in front of a private bucket: read by CloudFront alone (origin access control), HTTPS only, compressed. */
const webDistribution = (scope: Construct, { name, bucket, apiOrigin, domain }: WebDistributionProps): Distribution => {
  const distribution = new Distribution(scope, 'Distribution', {
    comment: 'Web dashboard',
    defaultRootObject: 'index.html',
    httpVersion: HttpVersion.HTTP2_AND_3,
    priceClass: PriceClass.PRICE_CLASS_100,
    ...(domain && {
      domainNames: [domain.name],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: domain.certificate,
    }),
    defaultBehavior: {
      origin: S3BucketOrigin.withOriginAccessControl(bucket, {
        originAccessControl: new S3OriginAccessControl(scope, 'Access', { originAccessControlName: name }),
      }),
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      responseHeadersPolicy: headersPolicy(scope, name, apiOrigin),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [
        {
          eventType: FunctionEventType.VIEWER_REQUEST,
          function: new EdgeFunction(scope, 'ToIndex', {
            functionName: name,
            code: FunctionCode.fromInline(TO_INDEX),
            runtime: FunctionRuntime.JS_2_0,
          }),
        },
      ],
    },
  });
  const sameForAll = 'These are public files, the same for everyone; all data is behind the dashboard API';
  acknowledge(distribution, {
    CFR1: `${sameForAll}, and may be looked at from anywhere.`,
    CFR2: `${sameForAll}, which has a firewall of its own.`,
    CFR3: `${sameForAll}, which logs every access.`,
  });
  if (domain === undefined) {
    acknowledge(distribution, {
      CFR4: 'CloudFront sets the protocol of its own domain: web.name in the settings gives one with TLS 1.2.',
    });
  }
  return distribution;
};

interface WebStackProps {
  readonly settings: StageSettings;
  readonly gateway: { readonly url: string };
  readonly dashboard: { readonly origin: string; readonly url: string };
}

const ASSETS = 'assets/*';

/** The web dashboard: built pages in a private bucket behind CloudFront, and one JSON file with the address of the API. */
export class WebStack extends Stack {
  /** Undefined where no alarm of this stack may read its metrics, which are in us-east-1. */
  readonly certificate: ICertificate | undefined;

  constructor(scope: Construct, id: string, { settings, gateway, dashboard }: WebStackProps) {
    super(scope, id);
    // A stage that gets domains removes the addresses that this stack, deployed after the APIs, still has.
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    const pages = new Bucket(this, 'Pages', privateBucket(settings.retention));
    // CDK's class and interface differ in whether a member may be undefined.
    const bucket = pages as IBucket;
    acknowledge(pages, { S1: 'Public files that only CloudFront reads: there is no access to audit.' });
    const domain = settings.web && {
      name: settings.web.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', settings.web.certificateArn),
    };
    this.certificate = this.region === 'us-east-1' ? domain?.certificate : undefined;
    const distribution = webDistribution(this, {
      name: `ai-spend-${settings.name}-${this.region}`,
      bucket,
      apiOrigin: dashboard.origin,
      domain,
    });
    this.#deploy(bucket, webAssets(), {
      apiUrl: dashboard.url,
      gatewayUrl: gateway.url,
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
    const zone = importZone(this, hostedZone);
    if (web !== undefined && zone !== undefined) {
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
