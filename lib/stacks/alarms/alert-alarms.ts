import { ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import type { StageMetrics } from '../metrics.ts';

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD } = ComparisonOperator;

/** From alert rules to mail. scheduled-alarms.ts reports an evaluator that fails or does not run. */
export const alertAlarms = ({ evaluatorCount, evaluationLag }: StageMetrics): RunbookAlarm[] => [
  {
    id: 'EvaluationFailures',
    summary: 'Alert rules of some accounts could not be evaluated, or alerts could not be sent.',
    section: 'evaluation-failures',
    metric: evaluatorCount('EvaluationFailures'),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'MailFailures',
    summary: 'SES did not accept alert mail; sending is retried for some hours.',
    section: 'mail-failures',
    metric: evaluatorCount('MailFailures'),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'EvaluationLag',
    summary: 'Alert rules are evaluated, and alerts sent, more than three minutes after they are due.',
    section: 'evaluation-lag',
    metric: evaluationLag,
    operator: GREATER_THAN_THRESHOLD,
    threshold: 180_000,
    periods: { breaching: 2, of: 3 },
  },
];
