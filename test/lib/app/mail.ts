import { describe, expect, it } from '@jest/globals';
import { onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

describe('mail', () => {
  const mail = synthStage()('mail');

  it('is sent over TLS alone, and bounces and complaints come back to a function', () => {
    expect(onlyResource(mail, 'AWS::SES::ConfigurationSet').Properties).toMatchObject({
      DeliveryOptions: { TlsPolicy: 'REQUIRE' },
      ReputationOptions: { ReputationMetricsEnabled: true },
      SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
    });
    const [topicId] = Object.keys(resourcesOf(mail, 'AWS::SNS::Topic'));
    expect(onlyResource(mail, 'AWS::SES::ConfigurationSetEventDestination').Properties).toMatchObject({
      EventDestination: {
        Enabled: true,
        MatchingEventTypes: ['bounce', 'complaint'],
        SnsDestination: { TopicARN: { Ref: topicId } },
      },
    });
    expect(onlyResource(mail, 'AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'lambda',
      TopicArn: { Ref: topicId },
    });
    expect(JSON.stringify(onlyResource(mail, 'AWS::SNS::TopicPolicy').Properties)).toContain('ses.amazonaws.com');
  });

  it('comes from an identity that is there, or from a new one with DKIM', () => {
    expect(resourcesOf(mail, 'AWS::SES::EmailIdentity')).toEqual({});
    const created = { mailFrom: 'alerts@acme.dev', mail: { identity: 'create' } };
    const shown = synthStage(created)('mail');
    expect(onlyResource(shown, 'AWS::SES::EmailIdentity').Properties).toMatchObject({ EmailIdentity: 'acme.dev' });
    expect(Object.keys(shown.findOutputs('*')).filter((name) => name.startsWith('Dkim'))).toHaveLength(3);
    const zone = {
      hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'acme.dev' },
      gatewayDomain: 'ai.acme.dev',
      dashboardDomain: 'api.acme.dev',
    };
    const records = resourcesOf(synthStage({ ...created, ...zone })('mail'), 'AWS::Route53::RecordSet');
    expect(Object.values(records).map(({ Properties }) => Properties['Type'])).toEqual(['CNAME', 'CNAME', 'CNAME']);
  });

  it('with codes for passwords comes from there, too, once its domain is verified', () => {
    expect(onlyResource(synthStage()('identity'), 'AWS::Cognito::UserPool').Properties).not.toHaveProperty(
      'EmailConfiguration',
    );
    const settings = { mailFrom: 'alerts@acme.dev', mail: { cognito: true }, region: 'eu-central-1' };
    expect(onlyResource(synthStage(settings)('identity'), 'AWS::Cognito::UserPool').Properties).toMatchObject({
      EmailConfiguration: {
        EmailSendingAccount: 'DEVELOPER',
        From: 'alerts@acme.dev',
        SourceArn: { 'Fn::Join': ['', expect.arrayContaining([expect.stringContaining(':identity/acme.dev')])] },
      },
    });
  });
});
