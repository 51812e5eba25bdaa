import type { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import type { ScheduledFunction } from '../../constructs/scheduled-function.ts';
import { FIVE_MINUTES } from '../metrics.ts';

const { LESS_THAN_THRESHOLD } = ComparisonOperator;

/** Scheduled functions that fail, do not run, or take too long. */
export const scheduledAlarms = (scheduled: readonly ScheduledFunction[]): RunbookAlarm[] =>
  scheduled.flatMap((each): RunbookAlarm[] => [
    {
      id: `${each.node.id}Errors`,
      summary: `The scheduled function "${each.node.id}" fails.`,
      section: 'scheduled-function-fails',
      metric: each.metricErrors({ period: atLeast(FIVE_MINUTES, each.every) }),
      periods: { breaching: 2, of: 3 },
    },
    {
      id: `${each.node.id}NotRunning`,
      summary: `The scheduled function "${each.node.id}" has not run.`,
      section: 'scheduled-function-does-not-run',
      metric: each.metricInvocations({ period: atLeast(FIVE_MINUTES, each.every) }),
      operator: LESS_THAN_THRESHOLD,
      threshold: 1,
      periods: { breaching: 2, of: 2 },
      ringsWithoutData: true,
    },
    {
      id: `${each.node.id}Lag`,
      summary: `Runs of the scheduled function "${each.node.id}" take too long, so that its work is late.`,
      section: 'scheduled-function-lags',
      metric: each.metricDuration({ period: atLeast(FIVE_MINUTES, each.every), statistic: Stats.MAXIMUM }),
      threshold: Math.min(each.every.toMilliseconds(), 0.9 * (each.timeout ?? each.every).toMilliseconds()),
      periods: { breaching: 3, of: 3 },
    },
  ]);

const atLeast = (least: Duration, duration: Duration) => (duration.toSeconds() > least.toSeconds() ? duration : least);
