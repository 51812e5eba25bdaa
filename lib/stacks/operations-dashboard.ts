import { CrossStackReferences, Duration, ReferenceStrength, Stack } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, type IWidget, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { providerLabels } from '../../lambda/domain/providers.ts';
import type { ScheduledFunction } from '../constructs/handler-function.ts';
import type { ImportedApi } from '../constructs/imported-api.ts';
import type { ContainerProxy } from './container-proxy.ts';
import { MINUTE, type StageMetrics, share } from './metrics.ts';
import type { ProviderProxy } from './provider-proxy.ts';

/** The resources that the operations dashboard shows. */
export interface Monitored {
  readonly metrics: StageMetrics;
  readonly table: ITable;
  readonly usage: {
    readonly queue: Queue;
    readonly deadLetterQueue: Queue;
    readonly recorder: LambdaFunction;
  };
  readonly gateway: {
    readonly proxies: readonly ProviderProxy[];
    readonly containerProxies: readonly ContainerProxy[];
  };
  readonly scheduled: readonly ScheduledFunction[];
  readonly dashboard: { readonly api: ImportedApi; readonly handlers: readonly LambdaFunction[] };
}

const DAY = Duration.days(1);

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []) =>
  new GraphWidget({ title, left: [...left], right: [...right], width: 12, height: 6 });

const percentiles = (metric: (statistic: string) => IMetric) => [Stats.p(50), Stats.p(99)].map(metric);

/** Graphs in the order of a request's path, from left to right and top to bottom. */
const widgets = ({ metrics, table, usage, gateway, dashboard, scheduled }: Monitored): IWidget[][] => {
  const { traffic, recorderCount, sweepCount, rollupCount, reconcileCount, evaluatorCount } = metrics;
  return [
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
    ...(gateway.proxies.length > 0 ? functionGraphs(gateway) : []),
    ...(gateway.containerProxies.length > 0 ? containerGraphs(gateway) : []),
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
        sweepCount('RefusedOutboxEntries'),
        rollupCount('RollupFailures'),
      ]),
    ],
    [
      graph('Spend: unpriced and unfinished requests, lost events', [
        traffic('UnpricedRequests'),
        recorderCount('UnfinishedRequests'),
        recorderCount('OverflowRequests'),
        metrics.lostEvents.with({ label: 'Lost usage events' }),
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
      graph(
        'Alerts: fired, failures, lag (ms)',
        [evaluatorCount('AlertsFired'), evaluatorCount('EvaluationFailures'), evaluatorCount('MailFailures')],
        [metrics.evaluationLag],
      ),
      graph('Billing: daily comparison with Stripe, failed events', [
        reconcileCount('RepairedAccounts', DAY),
        reconcileCount('UnreconciledAccounts', DAY),
        reconcileCount('DuplicateSubscriptions', DAY),
        reconcileCount('UnownedSubscriptions', DAY),
        metrics.webhookFailures.with({ period: DAY }),
      ]),
    ],
    [
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
  ];
};

/** Hosts that Lambda serves. */
const functionGraphs = ({ proxies }: Monitored['gateway']): IWidget[][] => [
  [
    graph(
      'Gateway: requests, 4xx, 5xx',
      proxies.flatMap(({ node, api }) => [
        api.metricCount({ label: `${node.id} requests` }),
        api.metricClientError({ statistic: Stats.SUM, label: `${node.id} 4xx` }),
        api.metricServerError({ statistic: Stats.SUM, label: `${node.id} 5xx` }),
      ]),
    ),
    graph(
      'Gateway: requests in flight and throttled',
      proxies.flatMap(({ node, handler }) => [
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
      proxies.flatMap(({ node, handler }) =>
        percentiles((statistic) => handler.metricDuration({ statistic, label: `${node.id} ${statistic}` })),
      ),
    ),
    graph(
      'Gateway: interrupted',
      proxies.map(({ node, handler }) => handler.metricErrors({ label: `${node.id} interrupted` })),
    ),
  ],
];

/** Hosts that containers serve. */
const containerGraphs = ({ containerProxies }: Monitored['gateway']): IWidget[][] => [
  [
    graph(
      'Containers: requests, 4xx, 5xx',
      containerProxies.flatMap((proxy) => [
        proxy.requests(`${proxy.node.id} requests`),
        proxy.responses('4XX', `${proxy.node.id} 4xx`),
        proxy.responses('5XX', `${proxy.node.id} 5xx`),
      ]),
    ),
    graph(
      'Containers: open requests of one; how many there are',
      containerProxies.map(({ node, openRequests }) => openRequests.with({ label: `${node.id} open requests` })),
      containerProxies.map(({ node, healthyTasks }) => healthyTasks.with({ label: `${node.id} containers` })),
    ),
  ],
  [
    graph(
      'Containers: processor and memory, %',
      containerProxies.flatMap(({ node, service }) => [
        service.metricCpuUtilization({ label: `${node.id} processor` }),
        service.metricMemoryUtilization({ label: `${node.id} memory` }),
      ]),
    ),
    graph(
      'Containers: requests without a response from one, %',
      containerProxies.map((proxy) => proxy.failedShare(MINUTE)),
    ),
  ],
];

/** One dashboard that shows the way of a request from left to right and top to bottom. Alarms are in the stacks of what they watch. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, id: string, monitored: Monitored) {
    super(scope, id);
    // A strong reference is an export, which CloudFormation does not delete while this stack, deployed last, still imports it: no
    // function or isolated provider could be renamed or removed.
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    new Dashboard(this, 'Dashboard', { widgets: widgets(monitored) });
  }
}
