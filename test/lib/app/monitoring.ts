import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { onlyResource, resourcesOf, stackNames, synthStage } from '../synth-stage.ts';

const alarmSchema = z.object({ AlarmDescription: z.string(), AlarmActions: z.array(z.object({ Ref: z.string() })) });

const alarmsOf = (settings: object = {}) =>
  Object.entries(resourcesOf(synthStage(settings)('monitoring'), 'AWS::CloudWatch::Alarm')).map(
    ([id, { Properties }]) => ({
      id,
      properties: Properties,
      ...alarmSchema.parse(Properties),
    }),
  );

/** Anchors as GitHub makes them. */
const runbookAnchors = readFileSync(join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('## '))
  .map((line) => line.slice(3).toLowerCase().replaceAll(' ', '-'));

describe('alarms', () => {
  const monitoring = synthStage({ alarmMail: 'ops@acme.dev' })('monitoring');
  const [topicId] = Object.keys(resourcesOf(monitoring, 'AWS::SNS::Topic'));

  it.each(alarmsOf())(
    '$id goes to the topic and links a section of the runbook',
    ({ AlarmDescription, AlarmActions }) => {
      const [, anchor] = /Runbook: docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription) ?? [];
      expect(runbookAnchors).toContain(anchor);
      expect(AlarmActions).toEqual([{ Ref: topicId }]);
    },
  );

  it('of every other stack link the runbook, too', () => {
    const stage = synthStage();
    const others = stackNames
      .filter((name) => name !== 'monitoring')
      .flatMap((name) => Object.values(resourcesOf(stage(name), 'AWS::CloudWatch::Alarm')));
    expect(others.length).toBeGreaterThan(0);
    for (const { Properties } of others) {
      const [, anchor] = /Runbook: docs\/runbook\.md#([a-z-]+)$/.exec(String(Properties['AlarmDescription'])) ?? [];
      expect(runbookAnchors).toContain(anchor);
    }
  });

  it('link the runbook where the settings say it is', () => {
    for (const { AlarmDescription } of alarmsOf({ runbookUrl: 'https://wiki.acme.dev/ai-spend' })) {
      expect(AlarmDescription).toContain('Runbook: https://wiki.acme.dev/ai-spend#');
    }
  });

  it('report a schedule that fails and one that does not run', () => {
    const text = alarmsOf().map(({ properties }) => properties);
    expect(text).toContainEqual(
      expect.objectContaining({
        MetricName: 'Invocations',
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: 'breaching',
      }),
    );
    expect(text.filter(({ TreatMissingData }) => TreatMissingData === 'breaching')).toHaveLength(4);
  });

  it('do not take the delay of open events for lateness', () => {
    const age = alarmsOf().find(({ id }) => id.includes('UsageQueueAge'));
    expect(age?.properties['Threshold']).toBe(1_500);
  });

  it('watch concurrency where it is bounded', () => {
    expect(alarmsOf().filter(({ id }) => id.includes('ProxyConcurrency'))).toEqual([]);
    const bounded = alarmsOf({ gateway: { reservedConcurrency: 500 } }).find(({ id }) =>
      id.includes('ProxyConcurrency'),
    );
    expect(bounded?.properties['Threshold']).toBe(400);
  });

  it('reach a mail address, over TLS, and CloudWatch may publish them', () => {
    expect(onlyResource(monitoring, 'AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@acme.dev',
    });
    const policy = JSON.stringify(onlyResource(monitoring, 'AWS::SNS::TopicPolicy').Properties);
    expect(policy).toContain('"aws:SecureTransport":"false"');
    expect(policy).toContain('cloudwatch.amazonaws.com');
  });

  it('read metrics that the functions write', () => {
    const written = [
      'usage-recorder/report.ts',
      'usage-recorder/traffic.ts',
      'usage-recorder/consume-messages.ts',
      'usage-recorder/sweep/sweep-outbox.ts',
      'usage-recorder/rollup/roll-up-due-periods.ts',
      'rule-evaluator/handler.ts',
      'dashboard/stripe-webhook/reconcile/reconcile.ts',
    ]
      .map((file) => readFileSync(join(import.meta.dirname, '../../../lambda', file), 'utf8'))
      .join('\n');
    const text = JSON.stringify(resourcesOf(monitoring, 'AWS::CloudWatch::Alarm'));
    const read = [...text.matchAll(/"MetricName":"(\w+)","Namespace":"AiSpendGateway"/g)].map(([, name]) => name);
    // Counted from log lines: see the tests of the stacks that write them.
    const ownNames = read.filter((name) => name !== 'LostUsageEvents' && name !== 'StripeWebhookFailures');
    expect(ownNames.length).toBeGreaterThan(2);
    for (const name of ownNames) expect(written).toContain(`'${name}'`);
  });

  it('count events that were lost to the log', () => {
    const filter = onlyResource(synthStage()('gateway'), 'AWS::Logs::MetricFilter').Properties;
    expect(filter).toMatchObject({
      FilterPattern: '"usage event not delivered"',
      MetricTransformations: [{ MetricName: 'LostUsageEvents', MetricNamespace: 'AiSpendGateway' }],
    });
    const tracker = readFileSync(join(import.meta.dirname, '../../../lambda/gateway/tracking/tracker.ts'), 'utf8');
    expect(tracker).toContain('usage event not delivered');
  });
});

describe('the CloudWatch dashboard', () => {
  it('is one', () => {
    const { DashboardBody } = onlyResource(synthStage()('monitoring'), 'AWS::CloudWatch::Dashboard').Properties;
    const text = JSON.stringify(DashboardBody);
    for (const metric of [
      'LostUsageEvents',
      'ConcurrentExecutions',
      'UnpricedRequests',
      'ApproximateAgeOfOldestMessage',
      'OverheadMs',
      'TimeToFirstByteMs',
      'BypassedRequests',
      'MailFailures',
      'EvaluationLagMs',
      'RepairedAccounts',
      'UnreconciledAccounts',
      'DuplicateSubscriptions',
      'UnownedSubscriptions',
      'StripeWebhookFailures',
    ]) {
      expect(text).toContain(metric);
    }
  });
});
