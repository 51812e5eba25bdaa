import { Duration, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
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
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { contentSecurityPolicy, PERMISSIONS_POLICY } from '../../web/security-headers.ts';

export interface WebDistributionProps {
  /** CloudFront's names are of the whole account: unique by stage and region. */
  readonly name: string;
  readonly bucket: IBucket;
  /** Origin of the dashboard API: the only one that the pages may call apart from their own. */
  readonly apiOrigin: string;
  /** Unset: CloudFront's own domain. */
  readonly domain: { readonly name: string; readonly certificateArn: string } | undefined;
}

const HSTS_DAYS = 730;

/** A path that names no file is a page of the application, which reads the path itself. */
const TO_INDEX = `function handler(event) {
  var request = event.request;
  var last = request.uri.slice(request.uri.lastIndexOf('/') + 1);
  if (last.indexOf('.') === -1) request.uri = '/index.html';
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
      strictTransportSecurity: {
        accessControlMaxAge: Duration.days(HSTS_DAYS),
        includeSubdomains: true,
        override: true,
      },
    },
    customHeadersBehavior: {
      customHeaders: [{ header: 'Permissions-Policy', value: PERMISSIONS_POLICY, override: true }],
    },
  });

/** The pages in front of a private bucket: read by CloudFront alone (origin access control), HTTPS only, compressed. */
export const webDistribution = (
  scope: Construct,
  { name, bucket, apiOrigin, domain }: WebDistributionProps,
): Distribution => {
  const distribution = new Distribution(scope, 'Distribution', {
    comment: 'Web dashboard',
    defaultRootObject: 'index.html',
    httpVersion: HttpVersion.HTTP2_AND_3,
    priceClass: PriceClass.PRICE_CLASS_100,
    ...(domain && {
      domainNames: [domain.name],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
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
  Validations.of(distribution).acknowledge(
    { id: 'AwsSolutions-CFR1', reason: `${sameForAll}, and may be looked at from anywhere.` },
    { id: 'AwsSolutions-CFR2', reason: `${sameForAll}, which has a firewall of its own.` },
    { id: 'AwsSolutions-CFR3', reason: `${sameForAll}, which logs every access.` },
  );
  if (domain === undefined) {
    Validations.of(distribution).acknowledge({
      id: 'AwsSolutions-CFR4',
      reason: 'CloudFront sets the protocol of its own domain: web.domain in the settings gives one with TLS 1.2.',
    });
  }
  return distribution;
};
