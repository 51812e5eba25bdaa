import { describe, expect, it } from '@jest/globals';
import aws4 from 'aws4';
import fc from 'fast-check';
import { requestSigner } from '../../../lambda/gateway/aws/aws-json.ts';

const contentType = 'application/x-amz-json-1.0';

/** The same request signed by a library. */
const byLibrary = (
  service: { name: string; region: string; host: string },
  target: string,
  body: string,
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string },
  now: Date,
): Record<string, unknown> => {
  const request = {
    host: service.host,
    path: '/',
    method: 'POST',
    service: service.name,
    region: service.region,
    headers: {
      'Content-Type': contentType,
      'X-Amz-Target': target,
      'X-Amz-Date': now.toISOString().replace(/[-:]|\.\d+/g, ''),
    },
    // It need not be signed, and is not here.
    extraHeadersToIgnore: { 'content-length': true },
    body,
  };
  return aws4.sign(request, credentials).headers as Record<string, unknown>;
};

const word = fc.stringMatching(/^[A-Za-z0-9/+=]{1,40}$/);

describe('requestSigner', () => {
  it('signs as aws4 does: any body, any credentials, any second', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('sqs', 'dynamodb', 'secretsmanager'),
        fc.constantFrom('eu-central-1', 'us-east-1'),
        fc.constantFrom('sqs.eu-central-1.amazonaws.com', '127.0.0.1:4566'),
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.record(
          { accessKeyId: word, secretAccessKey: word, sessionToken: word },
          { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
        ),
        fc.date({ min: new Date('2015-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        (name, region, host, text, credentials, now) => {
          const body = JSON.stringify({ text });
          const target = 'AmazonSQS.SendMessageBatch';
          const signed = requestSigner({ name, region, host, contentType })(target, body, credentials, now);
          const expected = byLibrary({ name, region, host }, target, body, credentials, now);
          expect(signed['Authorization']).toBe(expected['Authorization']);
          expect(signed['X-Amz-Date']).toBe(expected['X-Amz-Date']);
          expect(signed['Content-Length']).toBe(String(expected['Content-Length']));
          expect(signed['X-Amz-Security-Token']).toBe(expected['X-Amz-Security-Token']);
        },
      ),
    );
  });

  it('follows renewed credentials and the change of the day', () => {
    const service = { name: 'sqs', region: 'eu-central-1', host: 'sqs.eu-central-1.amazonaws.com' };
    const sign = requestSigner({ ...service, contentType });
    const first = { accessKeyId: 'AKIA1', secretAccessKey: 'one' };
    const second = { accessKeyId: 'AKIA2', secretAccessKey: 'two', sessionToken: 'token' };
    for (const [credentials, time] of [
      [first, '2026-12-31T23:59:59.999Z'],
      [first, '2027-01-01T00:00:00.000Z'],
      [second, '2027-01-01T00:00:00.500Z'],
      [first, '2027-01-01T00:00:01.000Z'],
    ] as const) {
      const now = new Date(time);
      expect(sign('AmazonSQS.SendMessage', '{}', credentials, now)['Authorization']).toBe(
        byLibrary(service, 'AmazonSQS.SendMessage', '{}', credentials, now)['Authorization'],
      );
    }
  });
});
