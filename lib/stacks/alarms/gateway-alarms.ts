import { ComparisonOperator, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { errorShare, FIVE_MINUTES, type StageMetrics, serverErrorShare, share } from '../metrics.ts';
import type { Monitored } from '../monitored.ts';

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD } = ComparisonOperator;

/** From a request to the provider and back. */
export const gatewayAlarms = ({ traffic, lostEvents }: StageMetrics, gateway: Monitored['gateway']): RunbookAlarm[] => [
  {
    id: 'LostUsageEvents',
    summary: 'A usage event could not be delivered to the queue or the table: only the gateway log has it.',
    section: 'lost-usage-events',
    metric: lostEvents,
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
  },
  {
    id: 'BypassedRequests',
    summary:
      'More than 1 % of the requests were forwarded without being registered first: the usage queue or the table is slow or down.',
    section: 'bypassed-requests',
    metric: share('Bypassed, %', traffic('BypassedRequests'), traffic('Requests')),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 1,
    periods: { breaching: 3, of: 5 },
  },
  {
    id: 'GatewayOverhead',
    summary: 'Every tenth request waited more than 200 ms in the gateway before it was forwarded.',
    section: 'gateway-overhead',
    metric: traffic('OverheadMs', { statistic: Stats.p(90) }),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 200,
    periods: { breaching: 3, of: 3 },
    ignoresFewSamples: true,
  },
  ...gateway.proxies.flatMap((proxy) => proxyAlarms(proxy)),
];

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
            operator: GREATER_THAN_THRESHOLD,
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
      operator: GREATER_THAN_THRESHOLD,
      threshold: 5,
      periods: { breaching: 3, of: 5 },
    },
    {
      id: `${node.id}Throttles`,
      summary: 'Proxy requests were refused because no concurrency was left.',
      section: 'gateway-throttles',
      metric: handler.metricThrottles({ period: FIVE_MINUTES }),
      operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
    },
    ...bounded,
    {
      id: `${node.id}ServerErrors`,
      summary: 'More than 25 % of the proxied requests got 5xx, from a provider or from the gateway.',
      section: 'gateway-server-errors',
      metric: serverErrorShare(api),
      operator: GREATER_THAN_THRESHOLD,
      threshold: 25,
      periods: { breaching: 3, of: 5 },
    },
  ];
};
