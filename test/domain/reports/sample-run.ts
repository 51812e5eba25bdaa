import type { ReportRun } from '../../../lambda/domain/reports/report-run.ts';

const change = {
  costBeforeNanoUsd: 1_000_000_000_000,
  costNanoUsd: 1_234_560_000_000,
  costChangeNanoUsd: 234_560_000_000,
  requestsBefore: 20,
  requests: 12_345,
  unpricedRequestsBefore: 0,
  unpricedRequests: 3,
};

const DAY = '2026-11-20T00:00:00.000Z';
const budget = {
  amountNanoUsd: 1_000e9,
  usedNanoUsd: 123.45e9,
  percentUsed: 12,
  projectedNanoUsd: 1_200e9,
  unpricedRequests: 1,
};

/** A run of a report with names of users and clients. */
export const sampleRun = (
  names: readonly string[],
  groups = names.map((value) => ({ value, label: null, ...change })),
): ReportRun => ({
  accountId: 'account-1',
  reportId: 'report-1',
  name: names[0] as string,
  createdAt: '2026-11-21T08:00:00.000Z',
  content: {
    every: 'daily',
    timeZone: 'UTC',
    period: { firstDay: '2026-11-20', lastDay: '2026-11-20', from: DAY, to: '2026-11-21T00:00:00.000Z' },
    before: { from: '2026-11-19T00:00:00.000Z', to: DAY },
    totals: change,
    effects: null,
    breakdowns: [{ by: 'tag', groups, furtherGroups: 0, isComplete: true }],
    budgets: names.map((name) => ({ ...budget, period: 'monthly', id: name, name })),
    coverage: {
      untrackedRequests: 0,
      bypassedRequests: 0,
      unfinishedRequests: 0,
      partialRequests: 0,
      estimatedNanoUsd: 0,
    },
  },
  deliveries: [],
});
