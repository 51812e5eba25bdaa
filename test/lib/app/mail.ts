import { describe, expect, it } from '@jest/globals';
import { filledIn, onlyResource, published, resourcesOf, synthStage } from '../synth-stage.ts';

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
    const { PolicyDocument } = onlyResource(mail, 'AWS::SNS::TopicPolicy').Properties;
    expect(JSON.stringify(PolicyDocument)).toMatch(/:configuration-set\/.*"Service":"ses\.amazonaws\.com"/);
  });

  it('comes from an identity that is there, or from a new one with DKIM', () => {
    expect(resourcesOf(mail, 'AWS::SES::EmailIdentity')).toEqual({});
    const shown = synthStage(filledIn)('mail');
    expect(onlyResource(shown, 'AWS::SES::EmailIdentity').Properties).toMatchObject({ EmailIdentity: 'acme.dev' });
    expect(Object.keys(shown.findOutputs('*')).filter((name) => name.startsWith('Dkim'))).toHaveLength(3);
    const records = resourcesOf(synthStage(published)('mail'), 'AWS::Route53::RecordSet');
    expect(Object.values(records).map(({ Properties }) => Properties['Type'])).toEqual(['CNAME', 'CNAME', 'CNAME']);
  });

  it('does not lose its identity where the settings call it existing later', () => {
    const { Resources } = synthStage(published)('mail').toJSON() as { Resources: Record<string, { Type: string }> };
    const made = Object.values(Resources).filter(({ Type }) => /EmailIdentity|RecordSet/.test(Type));
    expect(made).toHaveLength(4);
    for (const resource of made)
      expect(resource).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
  });

  it('with codes for passwords comes from there, too, once its domain is verified', () => {
    expect(onlyResource(synthStage()('identity'), 'AWS::Cognito::UserPool').Properties).not.toHaveProperty(
      'EmailConfiguration',
    );
    expect(onlyResource(synthStage(published)('identity'), 'AWS::Cognito::UserPool').Properties).toMatchObject({
      EmailConfiguration: {
        EmailSendingAccount: 'DEVELOPER',
        From: 'alerts@acme.dev',
        SourceArn: { 'Fn::Join': ['', expect.arrayContaining([expect.stringContaining(':identity/acme.dev')])] },
      },
    });
  });
});
