import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import type { AlertsStack } from '../alerts.ts';
import { FIVE_MINUTES, HOUR, messagesIn, type StageMetrics } from '../metrics.ts';

/** From alert rules to mail. service-alarms.ts reports an evaluator that fails or does not run. */
export const alertAlarms = (
  { evaluatorCount, evaluationLag }: StageMetrics,
  { worker, deadLetterQueue }: Pick<AlertsStack, 'worker' | 'deadLetterQueue'>,
): RunbookAlarm[] => [
  {
    id: 'RuleWorkerErrors',
    summary: 'Workers of the rule evaluator fail on whole jobs, which come again: alerts of some accounts are late.',
    metric: worker.metricErrors({ period: FIVE_MINUTES }),
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'EvaluationDeadLetters',
    summary:
      'A worker of the rule evaluator failed three times on the same job: the rules of some accounts are not judged.',
    section: 'rule-worker-errors',
    metric: messagesIn(deadLetterQueue),
  },
  {
    id: 'EvaluationFailures',
    summary: 'Alert rules of some accounts could not be evaluated, or alerts could not be sent.',
    metric: evaluatorCount('EvaluationFailures'),
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'MailFailures',
    summary: 'SES did not accept alert mail; sending is retried for some hours.',
    metric: evaluatorCount('MailFailures'),
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'EvaluationLag',
    summary: 'Alert rules are evaluated, and alerts sent, more than three minutes after they are due.',
    metric: evaluationLag,
    threshold: 180_000,
    periods: { breaching: 2, of: 3 },
  },
];

/** SES pauses an account whose mail bounces or annoys too often. @see https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html */
const reputation = (metricName: string, threshold: number): RunbookAlarm => ({
  id: metricName.replace('.', ''),
  summary: 'Too much mail of this account bounces or is reported as spam: SES may pause sending.',
  section: 'mail-failures',
  metric: new Metric({ namespace: 'AWS/SES', metricName, statistic: Stats.AVERAGE, period: HOUR }),
  threshold,
});

export const mailAlarms = ({ feedback }: { readonly feedback: LambdaFunction }): RunbookAlarm[] => [
  reputation('Reputation.BounceRate', 0.05),
  reputation('Reputation.ComplaintRate', 0.001),
  {
    id: 'FeedbackErrors',
    summary: 'Bounces and complaints of mails cannot be taken up: mail goes on to addresses that refuse it.',
    section: 'mail-failures',
    metric: feedback.metricErrors({ period: FIVE_MINUTES }),
    periods: { breaching: 2, of: 3 },
  },
];
