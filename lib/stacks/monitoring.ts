import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Dashboard, GraphWidget, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { providerLabels } from '../../lambda/domain/providers.ts';
import type { StageSettings } from '../config.ts';
import { AlarmTopic } from '../constructs/alarm-topic.ts';
import type { ScheduledFunction } from '../constructs/scheduled-function.ts';
import { alarms } from './alarms.ts';
import { evaluatorCount, recorderCount, sealCount, share, sweepCount, traffic } from './metrics.ts';
import type { ProviderProxy } from './provider-proxy.ts';

/** What is watched. */
export interface Monitored {
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly usage: {
    readonly queue: Queue;
    readonly deadLetterQueue: Queue;
    readonly recorder: LambdaFunction;
  };
  readonly gateway: {
    readonly proxies: readonly ProviderProxy[];
    /** Counts the log lines of events that could not be delivered. */
    readonly lostEvents: { readonly namespace: string; readonly metricName: string };
  };
  readonly scheduled: readonly ScheduledFunction[];
  readonly dashboard: { readonly api: RestApi; readonly handlers: readonly LambdaFunction[] };
}

const MINUTE = Duration.minutes(1);

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []) =>
  new GraphWidget({ title, left: [...left], right: [...right], width: 12, height: 6 });

const percentiles = (metric: (statistic: string) => IMetric) => [Stats.p(50), Stats.p(99)].map(metric);

/** Alarms by mail, and one dashboard that shows the way of a request from left to right and top to bottom. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, id: string, { monitored, ...props }: StackProps & { readonly monitored: Monitored }) {
    super(scope, id, props);
    const { settings, table, usage, gateway, dashboard, scheduled } = monitored;

    const topic = new AlarmTopic(this, 'Alarms', { mail: settings.alarmMail, runbookUrl: settings.runbookUrl });
    for (const alarm of alarms(monitored)) topic.raise(alarm);

    new Dashboard(this, 'Dashboard', {
      widgets: [
        [
          graph(
            'Traffic: requests by provider',
            providerLabels.map((provider) => traffic('Requests', { provider })),
          ),
          graph('Traffic: bypassed and unpriced, %', [
            share('Bypassed, %', traffic('BypassedRequests'), traffic('Requests')),
            share('Unpriced, %', traffic('UnpricedRequests'), traffic('Requests')),
          ]),
        ],
        [
          graph(
            'Gateway: own time before forwarding, ms',
            percentiles((statistic) => traffic('OverheadMs', { statistic })),
          ),
          graph(
            'Providers: time to first byte, median, ms',
            providerLabels.map((provider) => traffic('TimeToFirstByteMs', { provider, statistic: Stats.p(50) })),
          ),
        ],
        [
          graph(
            'Gateway: requests, 4xx, 5xx',
            gateway.proxies.flatMap(({ node, api }) => [
              api.metricCount({ label: `${node.id} requests` }),
              api.metricClientError({ statistic: Stats.SUM, label: `${node.id} 4xx` }),
              api.metricServerError({ statistic: Stats.SUM, label: `${node.id} 5xx` }),
            ]),
          ),
          graph(
            'Gateway: requests in flight and throttled',
            gateway.proxies.flatMap(({ node, handler }) => [
              handler.metric('ConcurrentExecutions', {
                statistic: Stats.MAXIMUM,
                period: MINUTE,
                label: `${node.id} in flight`,
              }),
              handler.metricThrottles({ period: MINUTE, label: `${node.id} throttled` }),
            ]),
          ),
        ],
        [
          graph(
            'Gateway: duration of whole requests, ms',
            gateway.proxies.flatMap(({ node, handler }) =>
              percentiles((statistic) => handler.metricDuration({ statistic, label: `${node.id} ${statistic}` })),
            ),
          ),
          graph('Gateway: broken off, lost events', [
            ...gateway.proxies.map(({ node, handler }) => handler.metricErrors({ label: `${node.id} broken off` })),
            new Metric({ ...gateway.lostEvents, statistic: Stats.SUM, label: 'Lost usage events' }),
          ]),
        ],
        [
          graph(
            'Usage queue: depth, age of the oldest event (s)',
            [
              usage.queue.metricApproximateNumberOfMessagesVisible(),
              usage.queue.metricApproximateNumberOfMessagesDelayed(),
              usage.deadLetterQueue.metricApproximateNumberOfMessagesVisible({ label: 'Dead letters' }),
            ],
            [usage.queue.metricApproximateAgeOfOldestMessage()],
          ),
          graph('Recorder: events', [
            recorderCount('RecordedEvents'),
            recorderCount('KnownEvents'),
            recorderCount('FailedEvents'),
            recorderCount('PoisonMessages'),
            recorderCount('UnownedEvents'),
            sweepCount('SweptEvents'),
            sweepCount('RefusedParkedEvents'),
            sealCount('SealFailures'),
          ]),
        ],
        [
          graph('Spend: unpriced and unsettled requests', [
            traffic('UnpricedRequests'),
            recorderCount('UnsettledRequests'),
            recorderCount('FoldedRequests'),
          ]),
          graph(
            'Scheduled functions: runs and failures',
            scheduled.flatMap((each) => [
              each.metricInvocations({ label: `${each.node.id} runs` }),
              each.metricErrors({ label: `${each.node.id} failures` }),
            ]),
          ),
        ],
        [
          graph('Alerts: fired, failures', [
            evaluatorCount('AlertsFired'),
            evaluatorCount('EvaluationFailures'),
            evaluatorCount('MailFailures'),
          ]),
          graph(
            'Scheduled functions: duration of the longest run, ms',
            scheduled.map((each) => each.metricDuration({ statistic: Stats.MAXIMUM, label: each.node.id })),
          ),
        ],
        [
          graph(
            'Dashboard API: requests, errors, latency (ms)',
            [
              dashboard.api.metricCount(),
              dashboard.api.metricClientError({ statistic: Stats.SUM }),
              dashboard.api.metricServerError({ statistic: Stats.SUM }),
            ],
            percentiles((statistic) => dashboard.api.metricLatency({ statistic, label: `Latency ${statistic}` })),
          ),
          graph(
            'Dashboard API: failures by function',
            dashboard.handlers.map((handler) => handler.metricErrors({ label: handler.node.id })),
          ),
        ],
        [
          graph('Table: capacity used', [
            table.metricConsumedReadCapacityUnits(),
            table.metricConsumedWriteCapacityUnits(),
          ]),
          graph('Table: throttled', [
            table.metric('ReadThrottleEvents', { statistic: Stats.SUM }),
            table.metric('WriteThrottleEvents', { statistic: Stats.SUM }),
          ]),
        ],
      ],
    });
  }
}
