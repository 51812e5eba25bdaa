import type { Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

export interface RunbookAlarm {
  readonly id: string;
  /** Says to the person on call what is wrong. */
  readonly summary: string;
  /** Anchor of the heading in the runbook; by default the id in lower case with hyphens. */
  readonly section?: string;
  readonly metric: IMetric;
  /** Left out: one is enough. */
  readonly threshold?: number;
  /** How the metric compares with the threshold: by default the alarm rings above it. */
  readonly operator?: ComparisonOperator;
  /** How many periods of the metric must breach, out of how many; 1 of 1 by default. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /**
   * No data means that something stopped; elsewhere it means that there was nothing to count. The alarm rings as it loses its data
   * (INSUFFICIENT_DATA), which is the state it begins in: it is silent until the first data have come.
   */
  readonly ringsWithoutData?: boolean;
  /** A percentile of few samples is meaningless: the alarm keeps its state then. */
  readonly ignoresFewSamples?: boolean;
}

/** Takes a release back: it rings where more than 5 % of a metric fail for two minutes. */
export const releaseAlarm = (
  scope: Construct,
  id: string,
  summary: string,
  metric: IMetric,
  runbookUrl: string,
): Alarm =>
  new Alarm(scope, id, {
    alarmDescription: `${summary} Runbook: ${runbookUrl}#release-taken-back`,
    metric,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 5,
    evaluationPeriods: 2,
    datapointsToAlarm: 2,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });

/**
 * Makes the alarms of a stack's resources in that stack: whatever is renamed or removed takes its alarms with it. Every alarm names
 * its section of the runbook.
 */
export const raiseAlarms = (
  stack: Stack,
  { topic, runbookUrl }: { readonly topic: ITopic; readonly runbookUrl: string },
  alarms: readonly RunbookAlarm[],
): void => {
  const scope = new Construct(stack, 'Alarms');
  for (const alarm of alarms) {
    const { breaching, of } = alarm.periods ?? { breaching: 1, of: 1 };
    const section = alarm.section ?? alarm.id.replace(/\B[A-Z]/g, '-$&').toLowerCase();
    const made = new Alarm(scope, alarm.id, {
      alarmDescription: `${alarm.summary} Runbook: ${runbookUrl}#${section}`,
      metric: alarm.metric,
      comparisonOperator:
        alarm.operator ??
        (alarm.threshold === undefined
          ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
          : ComparisonOperator.GREATER_THAN_THRESHOLD),
      threshold: alarm.threshold ?? 1,
      datapointsToAlarm: breaching,
      evaluationPeriods: of,
      ...(alarm.ignoresFewSamples ? { evaluateLowSampleCountPercentile: 'ignore' } : {}),
      treatMissingData: alarm.ringsWithoutData ? TreatMissingData.MISSING : TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(topic);
    made.addAlarmAction(action);
    made.addOkAction(action);
    if (alarm.ringsWithoutData) made.addInsufficientDataAction(action);
  }
};
