import type { Alert } from '../../../lambda/domain/alerts/alert.ts';

/** A daily cost threshold that fired. */
export const sampleAlert: Alert = {
  alertId: 'alert-1',
  accountId: 'account-1',
  ruleId: 'rule-1',
  ruleName: 'Daily spend',
  type: 'cost_threshold',
  event: null,
  status: 'triggered',
  triggeredAt: '2026-11-20T16:30:00.000Z',
  acknowledgedAt: null,
  acknowledgedBy: null,
  period: { name: 'daily', start: '2026-11-20T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z' },
  unit: 'nanoUsd',
  figure: 12_000_000_000,
  limit: 10_000_000_000,
  unpricedRequests: 3,
  summary: 'Spend is $12: it reached the threshold of $10.',
  contributors: [
    { dimension: 'model', value: 'gpt-4o', label: null, share: 0.75 },
    { dimension: 'model', value: null, label: null, share: 0.25 },
  ],
  deliveries: [],
};
