import { ComparisonOperator, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { errorShare, FIVE_MINUTES, type StageMetrics, serverErrorShare, share } from '../metrics.ts';
import type { Monitored } from '../operations-dashboard.ts';

/** From a request to the provider and back. */
export const gatewayAlarms = ({ traffic, lostEvents }: StageMetrics, gateway: Monitored['gateway']): RunbookAlarm[] => [
  {
    id: 'LostUsageEvents',
    summary: 'A usage event could not be delivered to the queue or the table: only the gateway log has it.',
    metric: lostEvents,
  },
  {
    id: 'BypassedRequests',
    summary:
      'More than 1 % of the requests were forwarded without being registered first: the usage queue or the table is slow or down.',
    metric: share('Bypassed, %', traffic('BypassedRequests'), traffic('Requests')),
    threshold: 1,
    periods: { breaching: 3, of: 5 },
  },
  {
    id: 'GatewayOverhead',
    summary: 'Every tenth request waited more than 200 ms in the gateway before it was forwarded.',
    metric: traffic('OverheadMs', { statistic: Stats.p(90) }),
    threshold: 200,
    periods: { breaching: 3, of: 3 },
    ignoresFewSamples: true,
  },
  ...gateway.proxies.flatMap((proxy) => proxyAlarms(proxy)),
  ...gateway.containerProxies.flatMap((proxy) => containerProxyAlarms(proxy)),
];

const SERVER_ERRORS = {
  summary: 'More than 25 % of the proxied requests got 5xx, from a provider or from the gateway.',
  section: 'gateway-server-errors',
  threshold: 25,
  periods: { breaching: 3, of: 5 },
} as const;

const containerProxyAlarms = (proxy: Monitored['gateway']['containerProxies'][number]): RunbookAlarm[] => {
  const { node, healthyTasks, openRequests, service, sizes } = proxy;
  const busy = {
    summary:
      'The containers have more to do than they are meant for, and no more are added: one zone less would be too much.',
    section: 'gateway-containers-busy',
    periods: { breaching: 3, of: 3 },
  } as const;
  return [
    {
      id: `${node.id}Errors`,
      summary: 'The load balancer got no response from containers for more than 5 % of the requests.',
      section: 'gateway-errors',
      metric: proxy.failedShare(FIVE_MINUTES),
      threshold: 5,
      periods: { breaching: 3, of: 5 },
    },
    {
      id: `${node.id}FewContainers`,
      summary: `Fewer than ${sizes.minTasks} containers serve requests: they stop, or cannot be started.`,
      section: 'few-gateway-containers',
      metric: healthyTasks,
      operator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: sizes.minTasks,
      periods: { breaching: 3, of: 3 },
      ringsWithoutData: true,
    },
    {
      ...busy,
      id: `${node.id}OpenRequests`,
      metric: openRequests.with({ period: FIVE_MINUTES }),
      threshold: sizes.openRequestsPerTask,
    },
    { ...busy, id: `${node.id}Cpu`, metric: service.metricCpuUtilization({ period: FIVE_MINUTES }), threshold: 85 },
    {
      ...busy,
      id: `${node.id}Memory`,
      metric: service.metricMemoryUtilization({ period: FIVE_MINUTES }),
      threshold: 85,
    },
    { ...SERVER_ERRORS, id: `${node.id}ServerErrors`, metric: proxy.serverErrorShare },
  ];
};

const proxyAlarms = ({
  node,
  handler,
  api,
  reservedConcurrency,
}: Monitored['gateway']['proxies'][number]): RunbookAlarm[] => {
  const bounded: RunbookAlarm[] =
    reservedConcurrency === undefined
      ? []
      : [
          {
            id: `${node.id}Concurrency`,
            summary: 'A gateway function uses more than 80 % of the concurrency reserved for it.',
            section: 'gateway-throttles',
            metric: handler.metric('ConcurrentExecutions', { period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
            threshold: Math.floor(reservedConcurrency * 0.8),
          },
        ];
  return [
    {
      id: `${node.id}Errors`,
      summary:
        'More than 5 % of the proxied requests were interrupted: the function crashed or ran out of time, or a provider interrupts its streams.',
      section: 'gateway-errors',
      metric: errorShare(handler),
      threshold: 5,
      periods: { breaching: 3, of: 5 },
    },
    {
      id: `${node.id}Throttles`,
      summary: 'Proxy requests were refused because no concurrency was left.',
      section: 'gateway-throttles',
      metric: handler.metricThrottles({ period: FIVE_MINUTES }),
    },
    ...bounded,
    { ...SERVER_ERRORS, id: `${node.id}ServerErrors`, metric: serverErrorShare(api) },
  ];
};
