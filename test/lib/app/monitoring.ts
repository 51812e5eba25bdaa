import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  filledIn,
  inContainers,
  onlyResource,
  published,
  resourcesOf,
  stackNames,
  synthStage,
  withoutDomains,
} from '../synth-stage.ts';

const alarmSchema = z.object({
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.object({ 'Fn::ImportValue': z.string() })).default([]),
});

const alarmsOf = (settings: object = {}) =>
  stackNames.flatMap((stack) =>
    Object.entries(resourcesOf(synthStage(settings)(stack), 'AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => ({
      id: `${stack}/${id}`,
      properties: Properties,
      ...alarmSchema.parse(Properties),
    })),
  );
/** The alarm that takes a bad release back: CodeDeploy acts on it. */
const isOfRelease = ({ id }: { readonly id: string }) => id.includes('Release');

/** Anchors as GitHub makes them. */
const runbookAnchors = readFileSync(join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('## '))
  .map((line) => line.slice(3).toLowerCase().replaceAll(' ', '-'));

describe('alarms', () => {
  const stackWithTopic = synthStage(filledIn)('alarm-topic');
  const [topicId] = Object.keys(resourcesOf(stackWithTopic, 'AWS::SNS::Topic'));

  it.each(alarmsOf())('$id links a section of the runbook and goes to the topic', ({ id, ...alarm }) => {
    const [, anchor] = /Runbook: docs\/runbook\.md#([a-z-]+)$/.exec(alarm.AlarmDescription) ?? [];
    expect(runbookAnchors).toContain(anchor);
    const actions = alarm.AlarmActions.map((action) => action['Fn::ImportValue']);
    expect(actions).toEqual(isOfRelease({ id }) ? [] : [expect.stringContaining(`ExportsOutputRef${topicId}`)]);
    expect(alarm.properties['OKActions']).toEqual(alarm.properties['AlarmActions']);
  });

  it('link the runbook where the settings say it is', () => {
    const elsewhere = alarmsOf(filledIn);
    expect(elsewhere.length).toBeGreaterThan(20);
    for (const { AlarmDescription } of elsewhere) {
      expect(AlarmDescription).toContain('Runbook: https://wiki.acme.dev/ai-spend#');
    }
  });

  it('have the threshold that their description names', () => {
    const named = alarmsOf().flatMap(({ AlarmDescription, properties }) => {
      const [, figure] = /^More than (\d[\d,.]*)(?: %|,? )/.exec(AlarmDescription) ?? [];
      return figure === undefined
        ? []
        : [[AlarmDescription, Number(figure.replaceAll(',', '')), properties['Threshold']]];
    });
    expect(named.length).toBeGreaterThan(5);
    expect(named.map(([description, , threshold]) => [description, threshold])).toEqual(
      named.map(([description, figure]) => [description, figure]),
    );
  });

  it('ring at these figures', () => {
    const figuresOf = (alarm: Record<string, unknown>) => {
      const text = JSON.stringify(alarm);
      const [, statistic] = /"(?:ExtendedStatistic|Stat|Statistic)":"(\w+)"/.exec(text) ?? [];
      const seconds = new Set([...text.matchAll(/"Period":(\d+)/g)].map(([, period]) => period));
      const sign = { GreaterThanThreshold: '>', LessThanThreshold: '<' }[String(alarm['ComparisonOperator'])] ?? '>=';
      const periods = `${alarm['DatapointsToAlarm']} of ${alarm['EvaluationPeriods']} × ${[...seconds]} s`;
      return `${statistic} ${sign} ${alarm['Threshold']} in ${periods}`;
    };
    const found: Record<string, Set<string>> = {};
    for (const { id, properties } of [...alarmsOf(), ...alarmsOf(inContainers)]) {
      const [, name = ''] = /\/(?:Alarms)?(\w+)[0-9A-F]{8}$/.exec(id) ?? [];
      found[figuresOf(properties)] = (found[figuresOf(properties)] ?? new Set()).add(name);
    }
    expect(
      Object.fromEntries(Object.entries(found).map(([figures, names]) => [figures, [...names].join(' ')])),
    ).toEqual({
      'Sum >= 1 in 1 of 1 × 300 s': 'RefusedOutboxEntries LostUsageEvents ProxyThrottles',
      'Maximum >= 1 in 1 of 1 × 300 s': 'EvaluationDeadLetters DeadLetters',
      'Sum >= 1 in 2 of 3 × 300 s':
        'FeedbackErrors RuleWorkerErrors MailFailures RuleEvaluatorErrors RecorderErrors SweepErrors OwnPricesErrors StripeWebhookFailures AccountJobsErrors',
      'Sum >= 1 in 3 of 3 × 300 s': 'EvaluationFailures',
      'Sum >= 1 in 1 of 1 × 3600 s':
        'RefusedPrices PriceBookFallbacks RepricingFailures RepairedAccounts UnreconciledAccounts DuplicateSubscriptions UnownedSubscriptions',
      'Sum >= 1 in 2 of 2 × 3600 s': 'ExportFailures',
      'Sum >= 1 in 3 of 3 × 3600 s': 'RollupFailures',
      'Maximum >= 1 in 1 of 1 × 3600 s': 'PriceDrift',
      'Maximum >= 1 in 24 of 24 × 3600 s': 'WaitingPrices',
      'Maximum > 21600000 in 1 of 1 × 3600 s': 'StalePrices',
      'Maximum > 180000 in 2 of 3 × 300 s': 'EvaluationLag',
      // The age of an open event includes its delay of 900 s.
      'Maximum > 1500 in 2 of 2 × 300 s': 'UsageQueueAge',
      'Sum > 100 in 2 of 3 × 300 s': 'TableThrottles',
      'Sum > 1000 in 1 of 1 × 3600 s': 'OverflowRequests',
      'Sum > 1 in 1 of 1 × 3600 s': 'UnfinishedRequests',
      'Sum > 10 in 1 of 1 × 3600 s': 'UnpricedRequests',
      'Sum > 1 in 3 of 5 × 300 s': 'BypassedRequests',
      'Sum > 5 in 3 of 5 × 300 s': 'ProxyErrors DashboardServerErrors',
      'Sum > 25 in 3 of 5 × 300 s': 'ProxyServerErrors',
      'Sum > 5 in 2 of 2 × 60 s': 'ProxyReleaseErrors ProxyRelease',
      'p90 > 200 in 3 of 3 × 300 s': 'GatewayOverhead',
      'Minimum < 3 in 3 of 3 × 300 s': 'ProxyFewContainers',
      'Average > 600 in 3 of 3 × 300 s': 'ProxyOpenRequests',
      'Average > 85 in 3 of 3 × 300 s': 'ProxyCpu ProxyMemory',
      'Average > 0.05 in 1 of 1 × 3600 s': 'ReputationBounceRate',
      'Average > 0.001 in 1 of 1 × 3600 s': 'ReputationComplaintRate',
      'Minimum < 30 in 1 of 1 × 86400 s': 'CertificateExpiry',
      // A scheduled function is watched by its own interval, and nine tenths of its time-out.
      'Sum >= 1 in 2 of 3 × 900 s': 'PriceFeedErrors RepricingErrors',
      'Sum >= 1 in 2 of 3 × 1200 s': 'ExporterErrors',
      'Sum >= 1 in 2 of 3 × 3600 s': 'RollupErrors',
      'Sum >= 1 in 2 of 3 × 86400 s': 'ReconcileErrors',
      'Sum < 1 in 2 of 2 × 300 s': 'RuleEvaluatorNotRunning SweepNotRunning OwnPricesNotRunning AccountJobsNotRunning',
      'Sum < 1 in 2 of 2 × 900 s': 'PriceFeedNotRunning RepricingNotRunning',
      'Sum < 1 in 2 of 2 × 1200 s': 'ExporterNotRunning',
      'Sum < 1 in 2 of 2 × 3600 s': 'RollupNotRunning',
      'Sum < 1 in 2 of 2 × 86400 s': 'ReconcileNotRunning',
      'Maximum > 60000 in 3 of 3 × 300 s': 'RuleEvaluatorLag',
      'Maximum > 45000 in 3 of 3 × 300 s': 'SweepLag AccountJobsLag',
      'Maximum > 216000 in 3 of 3 × 300 s': 'OwnPricesLag',
      'Maximum > 162000 in 3 of 3 × 900 s': 'PriceFeedLag',
      'Maximum > 756000 in 3 of 3 × 900 s': 'RepricingLag',
      'Maximum > 810000 in 3 of 3 × 1200 s': 'ExporterLag',
      'Maximum > 810000 in 3 of 3 × 3600 s': 'RollupLag',
      'Maximum > 810000 in 3 of 3 × 86400 s': 'ReconcileLag',
    });
    const throttles = alarmsOf().find(({ id }) => id.includes('TableThrottles'));
    const sum = /"Expression":"([^"]*)"/.exec(JSON.stringify(throttles))?.[1];
    expect(sum).toBe('FILL(reads, 0) + FILL(writes, 0) + FILL(indexReads, 0) + FILL(indexWrites, 0)');
    const overhead = alarmsOf().find(({ id }) => id.includes('GatewayOverhead'));
    expect(overhead?.properties['EvaluateLowSampleCountPercentile']).toBe('ignore');
  });

  it('compare a part with its whole in per cent', () => {
    const metric = z.object({ Metric: z.object({ MetricName: z.string() }), Stat: z.string() });
    const metrics = z.array(
      z.object({ Id: z.string(), Expression: z.string().optional(), MetricStat: metric.optional() }),
    );
    const shares = alarmsOf().flatMap(({ properties: { Metrics = [] } }) => {
      const all = metrics.parse(Metrics);
      const text = all.map(({ Expression }) => Expression).join('');
      const [, id] = /^IF\((\w+)Whole > 0, 100 \* FILL\(\1Part, 0\) \/ \1Whole\)$/.exec(text) ?? [];
      const of = (part: string) => {
        const found = all.find(({ Id }) => Id === `${id}${part}`)?.MetricStat;
        return `${found?.Stat} of ${found?.Metric.MetricName}`;
      };
      return text.includes('Whole') ? [`${of('Part')} / ${of('Whole')}`] : [];
    });
    expect([...new Set(shares)].sort()).toEqual([
      'Sum of 5XXError / SampleCount of Count',
      'Sum of BypassedRequests / Sum of Requests',
      'Sum of Errors / Sum of Invocations',
      'Sum of UnfinishedRequests / Sum of RecordedEvents',
      'Sum of UnpricedRequests / Sum of Requests',
    ]);
  });

  it('take the highest of what is a state, and no sum or mean of it', () => {
    const isState = /^Approximate|^(PriceFeedAgeMs|WaitingPriceChanges|DriftedModels|Duration)$/;
    const states = alarmsOf().flatMap(({ properties: { MetricName, Statistic } }) =>
      isState.test(String(MetricName)) ? [[MetricName, Statistic]] : [],
    );
    expect(new Set(states.map(([name]) => name)).size).toBe(6);
    expect(states).toEqual(states.map(([name]) => [name, 'Maximum']));
  });

  it('report every schedule that stops, but none that has yet to run for the first time', () => {
    const properties = alarmsOf().map((alarm) => alarm.properties);
    const stopped = properties.filter(({ MetricName }) => MetricName === 'Invocations');
    const scheduled = stackNames
      .flatMap((stack) => Object.values(resourcesOf(synthStage()(stack), 'AWS::Events::Rule')))
      .filter(({ Properties }) => Properties['ScheduleExpression']);
    const functionIn = (properties: unknown) => /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(properties))?.[1];
    expect(stopped.map(({ Dimensions }) => functionIn(Dimensions)).sort()).toEqual(
      scheduled.map(({ Properties }) => functionIn(Properties['Targets'])).sort(),
    );
    expect(stopped).not.toEqual([]);
    for (const alarm of stopped)
      expect(alarm).toMatchObject({
        ComparisonOperator: 'LessThanThreshold',
        // A new alarm is INSUFFICIENT_DATA; it rings as it becomes that.
        TreatMissingData: 'missing',
        InsufficientDataActions: alarm['AlarmActions'],
      });
    for (const alarm of properties.filter((each) => !stopped.includes(each)))
      expect(alarm['TreatMissingData']).toBe('notBreaching');
  });

  it('ring for a certificate that is not renewed, where a stage has domains', () => {
    const expiring = (settings: object = {}) =>
      alarmsOf(settings).filter(({ properties }) => properties['MetricName'] === 'DaysToExpiry');
    expect(expiring().map(({ id }) => id.split('/')[0])).toEqual(['gateway', 'dashboard-api']);
    expect(expiring(withoutDomains)).toEqual([]);
    const ofPages = (region: string) =>
      Object.values(resourcesOf(synthStage({ web: published.web, region })('web'), 'AWS::CloudWatch::Alarm'));
    // An alarm reads the metrics of its own region alone, and CloudFront's certificate is in this one.
    expect(ofPages('us-east-1').map(({ Properties }) => Properties['Dimensions'])).toEqual([
      [{ Name: 'CertificateArn', Value: published.web.certificateArn }],
    ]);
    expect(ofPages('eu-west-1')).toEqual([]);
    for (const { id, properties } of expiring()) {
      const [certificate] = Object.keys(
        resourcesOf(synthStage()(id.split('/')[0] as 'gateway'), 'AWS::CertificateManager::Certificate'),
      );
      expect(properties).toMatchObject({
        Dimensions: [{ Name: 'CertificateArn', Value: { Ref: certificate } }],
        ComparisonOperator: 'LessThanThreshold',
        Threshold: 30,
        Statistic: 'Minimum',
      });
    }
  });

  it('report events that fail one by one, in the queue and in the outbox', () => {
    const { properties } = alarmsOf().find(({ id }) => id.includes('RecorderErrors')) ?? {};
    const failed = [...JSON.stringify(properties).matchAll(/"Value":"([\w-]+)"}],"MetricName":"FailedEvents"/g)];
    expect(failed.map(([, service]) => service)).toEqual(['usage-recorder', 'usage-sweep']);
    expect(JSON.stringify(properties)).toContain('"MetricName":"Errors"');
  });

  it('watch concurrency where it is bounded', () => {
    expect(alarmsOf().filter(({ id }) => id.includes('ProxyConcurrency'))).toEqual([]);
    const bounded = alarmsOf(filledIn).find(({ id }) => id.includes('ProxyConcurrency'));
    expect(bounded?.properties['Threshold']).toBe(400);
  });

  it('reach a mail address, over TLS, and CloudWatch may publish them', () => {
    expect(onlyResource(stackWithTopic, 'AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@acme.dev',
    });
    const policy = JSON.stringify(onlyResource(stackWithTopic, 'AWS::SNS::TopicPolicy').Properties);
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
      'usage-recorder/recorder.ts',
      'usage-recorder/repricing/reprice-changed.ts',
      'price-feed/read-feed.ts',
      'price-feed/handler.ts',
      'exporter/run-due-days.ts',
      'rule-evaluator/handler.ts',
      'rule-evaluator/on-lambda.ts',
      'dashboard/stripe-webhook/reconcile/reconcile.ts',
    ]
      .map((file) => readFileSync(join(import.meta.dirname, '../../../lambda', file), 'utf8'))
      .join('\n');
    const text = JSON.stringify(alarmsOf().map(({ properties }) => properties));
    const read = [...text.matchAll(/"MetricName":"(\w+)","Namespace":"AiSpendGateway\/dev"/g)].map(([, name]) => name);
    // Counted from log lines: see the tests of the stacks that write them.
    const ownNames = read.filter((name) => name !== 'LostUsageEvents' && name !== 'StripeWebhookFailures');
    expect(ownNames.length).toBeGreaterThan(2);
    for (const name of ownNames) expect(written).toContain(`'${name}'`);
  });

  it('count events that were lost to the log', () => {
    const filter = onlyResource(synthStage()('gateway'), 'AWS::Logs::MetricFilter').Properties;
    expect(filter).toMatchObject({
      FilterPattern: '"usage event not delivered"',
      MetricTransformations: [{ MetricName: 'LostUsageEvents', MetricNamespace: 'AiSpendGateway/dev' }],
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
