import { ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/alarm-topic.ts';
import { serverErrorShare, throttledItems } from '../metrics.ts';
import type { Monitored } from '../monitored.ts';

const { GREATER_THAN_THRESHOLD } = ComparisonOperator;

/** The dashboard API and the table. */
export const platformAlarms = ({ table, dashboard }: Pick<Monitored, 'table' | 'dashboard'>): RunbookAlarm[] => [
  {
    id: 'DashboardServerErrors',
    summary: 'More than 5 % of the dashboard requests got 5xx.',
    section: 'dashboard-server-errors',
    metric: serverErrorShare(dashboard.api),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 5,
    periods: { breaching: 3, of: 5 },
  },
  {
    id: 'TableThrottles',
    summary: 'The table throttles reads or writes: a partition is hot, or a quota is reached.',
    section: 'table-throttles',
    metric: throttledItems(table),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 100,
    periods: { breaching: 2, of: 3 },
  },
];
