import type { Rule } from '../data/alerts/rules.ts';
import type { Alert } from '../domain/alerts/alert.ts';
import { isOverdue, type Period } from '../domain/calendar/periods.ts';
import type { Observation } from '../domain/limits/evaluator.ts';

const LATE = 'This alert is late: the rules could not be judged in time.';

/** The alert of a rule that fires for a period, to be delivered on the rule's channels. */
export const newAlert = (
  rule: Rule,
  period: Period,
  { exceeded: _, usual: _usual, forecast: _forecast, event, percent, summary, ...observation }: Observation,
  { of, ...facts }: Pick<Alert, 'alertId' | 'triggeredAt' | 'mayAlsoMatch' | 'drivers' | 'of'>,
): Alert => ({
  ...facts,
  accountId: rule.accountId,
  ruleId: rule.ruleId,
  ruleName: rule.name,
  type: rule.condition.type,
  status: 'triggered',
  acknowledgedAt: null,
  acknowledgedBy: null,
  period,
  event: event ?? null,
  ...(percent !== undefined && { percent }),
  ...(of && { of }),
  ...observation,
  summary: isOverdue(period, new Date(facts.triggeredAt)) ? `${summary} ${LATE}` : summary,
  deliveries: rule.channels.map((channel) => ({
    channel,
    status: 'pending',
    attempts: 0,
    lastAttemptAt: null,
    sentAt: null,
    error: null,
  })),
});
