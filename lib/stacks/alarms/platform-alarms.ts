import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { serverErrorShare, throttledItems } from '../metrics.ts';
import type { Monitored } from '../monitored.ts';

export const dashboardAlarms = ({ api }: Monitored['dashboard']): RunbookAlarm[] => [
  {
    id: 'DashboardServerErrors',
    summary: 'More than 5 % of the dashboard requests got 5xx.',
    section: 'dashboard-server-errors',
    metric: serverErrorShare(api),
    threshold: 5,
    periods: { breaching: 3, of: 5 },
  },
];

export const tableAlarms = (table: ITable): RunbookAlarm[] => [
  {
    id: 'TableThrottles',
    summary: 'The table throttles reads or writes: a partition is hot, or a quota is reached.',
    section: 'table-throttles',
    metric: throttledItems(table),
    threshold: 100,
    periods: { breaching: 2, of: 3 },
  },
];
