import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { z } from 'zod';
import { InvalidSettings, parseStageSettings } from '../../../lib/config.ts';
import { onlyResource, published, synthStage } from '../synth-stage.ts';

const CERTIFICATE = published.web.certificateArn;

const headersSchema = z.object({
  ResponseHeadersPolicyConfig: z.object({
    SecurityHeadersConfig: z.looseObject({
      ContentSecurityPolicy: z.object({ ContentSecurityPolicy: z.string() }),
    }),
  }),
});

describe('the web dashboard', () => {
  const template = synthStage(published)('web');

  it('lies in a bucket that nobody but CloudFront reads, over TLS alone', () => {
    template.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: { SigningBehavior: 'always', SigningProtocol: 'sigv4' },
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          Match.objectLike({
            Action: 's3:GetObject',
            Effect: 'Allow',
            Principal: { Service: 'cloudfront.amazonaws.com' },
            Condition: { StringEquals: { 'AWS:SourceArn': Match.anyValue() } },
          }),
        ],
      },
    });
  });

  it('is written by CDK’s own function, which may touch its bucket and that of the built assets, and nothing else', () => {
    const statements = Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement as { Action: unknown; Resource: unknown }[],
    );
    expect(statements.length).toBeGreaterThan(0);
    for (const { Action, Resource } of statements) {
      for (const action of [Action].flat()) expect(action).toMatch(/^s3:/);
      for (const resource of [Resource].flat())
        expect(JSON.stringify(resource)).toMatch(/"Fn::GetAtt":\["Pages\w+","Arn"\]|:s3:::.*cdk-hnb659fds-assets-/);
    }
  });

  it('responds at its own domain, over TLS 1.2 and compressed', () => {
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Aliases: ['spend.acme.dev'],
        DefaultRootObject: 'index.html',
        DefaultCacheBehavior: { Compress: true, ViewerProtocolPolicy: 'redirect-to-https' },
        ViewerCertificate: { AcmCertificateArn: CERTIFICATE, MinimumProtocolVersion: 'TLSv1.2_2021' },
      },
    });
    for (const Type of ['A', 'AAAA']) {
      template.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'spend.acme.dev.', Type });
    }
  });

  it('may run its own files and talk to its API, and nothing else', () => {
    const { Properties } = onlyResource(template, 'AWS::CloudFront::ResponseHeadersPolicy');
    const headers = headersSchema.parse(Properties).ResponseHeadersPolicyConfig.SecurityHeadersConfig;
    const directives = headers.ContentSecurityPolicy.ContentSecurityPolicy.split('; ');
    expect(directives).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self' https://api.acme.dev",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]),
    );
    expect(directives.join()).not.toMatch(/unsafe|\*|http:/);
    // A dashboard at acme.dev must not force HTTPS upon all other hosts of the company.
    expect(headers['StrictTransportSecurity']).not.toMatchObject({ IncludeSubdomains: true });
    expect(headers).toMatchObject({
      StrictTransportSecurity: { AccessControlMaxAgeSec: 63_072_000, Override: true },
      FrameOptions: { FrameOption: 'DENY', Override: true },
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'strict-origin-when-cross-origin', Override: true },
    });
  });

  it('asks for a page by every path that names no file', () => {
    const [edge] = Object.values(template.findResources('AWS::CloudFront::Function'));
    const uriOf = (uri: string): string =>
      runInNewContext(
        `${edge?.['Properties'].FunctionCode}; handler({ request: { uri: ${JSON.stringify(uri)} } }).uri`,
      );
    expect(['/', '/requests', '/alerts/0199', '/sessions/run.1'].map(uriOf)).toEqual(Array(4).fill('/index.html'));
    expect(['/assets/a.js', '/config.json', '/index.html'].map(uriOf)).toEqual([
      '/assets/a.js',
      '/config.json',
      '/index.html',
    ]);
  });

  it('puts files that never change in place before the page that names them', () => {
    const deployments = Object.entries(template.findResources('Custom::CDKBucketDeployment'));
    const by = (control: string) =>
      deployments.find(([, { Properties }]) => Properties.SystemMetadata['cache-control'].includes(control));
    const [assets, entry] = [by('immutable'), by('no-cache')];
    expect(entry?.[1]['DependsOn']).toContain(assets?.[0]);
    expect(deployments.map(([, { Properties }]) => Properties.Prune)).toEqual([false, false]);
  });

  it('without a domain tells where it is', () => {
    const plain = synthStage()('web');
    expect(Object.values(plain.findOutputs('*'))[0]?.['Description']).toMatch(/corsOrigins and dashboardUrl/);
    plain.resourceCountIs('AWS::Route53::RecordSet', 0);
  });
});

describe('its settings', () => {
  it('let its pages call the API, and lead links there', () => {
    expect(parseStageSettings('dev', published)).toMatchObject({
      corsOrigins: ['https://spend.acme.dev'],
      dashboardUrl: 'https://spend.acme.dev',
    });
    expect(parseStageSettings('dev', { ...published, dashboardUrl: 'https://other.acme.dev' }).dashboardUrl).toBe(
      'https://other.acme.dev',
    );
  });

  it.each([
    [
      'a certificate of another region',
      { name: 'spend.acme.dev', certificateArn: CERTIFICATE.replace('us-east-1', 'eu-west-1') },
      /us-east-1/,
    ],
    [
      'a domain outside the zone',
      { name: 'spend.other.dev', certificateArn: CERTIFICATE },
      /web\.name: must lie in the hosted zone/,
    ],
    [
      'a domain outside the zone, where the APIs have no domains',
      { name: 'spend.other.dev', certificateArn: CERTIFICATE },
      /web\.name: must lie in the hosted zone/,
      { customDomains: false },
    ],
    ['a domain without a certificate', { name: 'spend.acme.dev' }, /web\.certificateArn/],
  ])('refuse %s', (_, web, message, others: object = {}) => {
    const parse = () => parseStageSettings('dev', { ...published, ...others, web });
    expect(parse).toThrow(InvalidSettings);
    expect(parse).toThrow(message);
  });
});
