import { describe, expect, it } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { usageCapacity } from '../../../lib/usage-capacity.ts';
import { filledIn, inContainers, onlyResource, published, resourcesOf, stripped, synthStage } from '../synth-stage.ts';

const recorderOf = (template: Template) => {
  const functions = Object.entries(resourcesOf(template, 'AWS::Lambda::Function'));
  return functions.find(([id]) => id.startsWith('Recorder'))?.[1].Properties ?? {};
};

describe('the usage queue', () => {
  const usage = synthStage()('usage');
  const queues = Object.entries(resourcesOf(usage, 'AWS::SQS::Queue'));
  const [queueId, queue] = queues.find(([, { Properties }]) => 'RedrivePolicy' in Properties) ?? [];
  const [deadLetterId, deadLetters] = queues.find(([, { Properties }]) => !('RedrivePolicy' in Properties)) ?? [];
  const functions = Object.entries(resourcesOf(usage, 'AWS::Lambda::Function'));
  const mapping = onlyResource(usage, 'AWS::Lambda::EventSourceMapping').Properties;

  it('hides a message six times as long as its consumer may take', () => {
    const consumer = functions.find(([id]) => (mapping['FunctionName'] as { Ref: string }).Ref === id)?.[1];
    expect(queue?.Properties['VisibilityTimeout']).toBe(6 * Number(consumer?.Properties['Timeout']));
  });

  it('tries a message for a day, then gives up into a queue that keeps it longer than it could wait', () => {
    const { deadLetterTargetArn, maxReceiveCount } = (queue?.Properties['RedrivePolicy'] ?? {}) as Record<
      string,
      unknown
    >;
    expect(deadLetterTargetArn).toEqual({ 'Fn::GetAtt': [deadLetterId, 'Arn'] });
    // A delivery that Lambda throttles is one of them, and hides the message for as long as any other.
    expect(Number(maxReceiveCount) * Number(queue?.Properties['VisibilityTimeout'])).toBe(86_400);
    expect(queue?.Properties['MessageRetentionPeriod']).toBe(4 * 86_400);
    expect(deadLetters).toMatchObject({
      Properties: { MessageRetentionPeriod: 14 * 86_400 },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
  });

  it('is worked off in batches that may fail in part', () => {
    expect(mapping).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': [queueId, 'Arn'] },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 100,
      MaximumBatchingWindowInSeconds: 2,
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });

  it.each([
    { settings: stripped, batch: 100, recorders: 2 },
    { settings: published, batch: 1_000, recorders: 100 },
    { settings: inContainers, batch: 1_000, recorders: 1_000 },
    { settings: filledIn, batch: 300, recorders: 40 },
  ])(
    'is worked off as $settings.expectedRequestsPerSecond and $settings.recorder need it',
    ({ settings, batch, recorders }) => {
      const template = synthStage(settings)('usage');
      expect(onlyResource(template, 'AWS::Lambda::EventSourceMapping').Properties).toMatchObject({
        BatchSize: batch,
        ScalingConfig: { MaximumConcurrency: recorders },
      });
      // With fewer, deliveries would be throttled; more would be taken from the gateway.
      expect(recorderOf(template)['ReservedConcurrentExecutions']).toBe(recorders);
    },
  );

  it('is worked off in larger batches as soon as traffic is above a step of it', () => {
    expect([500, 501].map((perSecond) => usageCapacity(perSecond).batchSize)).toEqual([100, 200]);
  });

  it('has no concurrency of its own where the quota leaves none', () => {
    const settings = { recorder: { reservesConcurrency: false } };
    expect(recorderOf(synthStage(settings)('usage'))).not.toHaveProperty('ReservedConcurrentExecutions');
  });

  it('and its dead letters are encrypted and take TLS only', () => {
    const policies = Object.values(resourcesOf(usage, 'AWS::SQS::QueuePolicy'));
    for (const [id, { Properties }] of queues) {
      expect(Properties['SqsManagedSseEnabled']).toBe(true);
      const policy = policies.find(
        ({ Properties: { Queues } }) => JSON.stringify(Queues) === JSON.stringify([{ Ref: id }]),
      );
      expect(policy?.Properties['PolicyDocument']).toMatchObject({
        Statement: [{ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }],
      });
    }
    expect(policies).toHaveLength(2);
  });

  it('reads no prices of a source that the settings switch off', () => {
    const stack = synthStage({ priceFeed: { sources: { 'models.dev': null } } })('usage');
    const environments = Object.entries(resourcesOf(stack, 'AWS::Lambda::Function')).flatMap(([id, { Properties }]) =>
      id.startsWith('PriceFeed') ? [Properties['Environment']] : [],
    );
    const sources = { PRICE_FEED_SOURCES: expect.stringMatching(/^\{"genai-prices":"[^"]+"\}$/) };
    expect(environments).toEqual([{ Variables: expect.objectContaining(sources) }]);
  });

  it.each([
    ['Sweep', 'rate(1 minute)'],
    ['Rollup', 'rate(1 hour)'],
    ['OwnPrices', 'rate(5 minutes)'],
    ['PriceFeed', 'rate(15 minutes)'],
    ['Repricing', 'rate(15 minutes)'],
  ])('has %s run at %s', (name, rate) => {
    const schedules = Object.values(resourcesOf(usage, 'AWS::Events::Rule')).map(({ Properties }) => Properties);
    const [handler] = functions.find(([id]) => id.startsWith(name)) ?? [];
    expect(schedules).toHaveLength(5);
    expect(schedules).toContainEqual(
      expect.objectContaining({
        ScheduleExpression: rate,
        State: 'ENABLED',
        Targets: [expect.objectContaining({ Arn: { 'Fn::GetAtt': [handler, 'Arn'] } })],
      }),
    );
  });
});
