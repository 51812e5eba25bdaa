import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import type { MetricLog } from '../on-schedule.ts';
import type { EventResult } from './recorder.ts';

export type ReportLogger = Pick<Logger, 'error' | 'warn'>;

const errorName = (error: unknown): string => (error instanceof Error ? error.name : String(error));

/** Logs what an operator must know of one event: identifiers only, never a key or content. */
const logResult = (logger: ReportLogger, event: UsageEvent, result: EventResult): void => {
  const { requestId, kind } = event;
  const names = { requestId, eventKind: kind, ...(kind !== 'untracked' && { provider: event.provider }) };
  if (result.kind === 'unowned')
    logger.warn('Usage event dropped: its service key is unknown, or its account is deleted', names);
  if (result.kind === 'expired') logger.warn('Usage event dropped: too old to tell whether it was counted', names);
  if (result.kind === 'failed')
    logger.error(result.permanent ? 'Usage event refused by the table' : 'Usage event not recorded', {
      ...names,
      errorName: errorName(result.error),
    });
};

/** Logs and counts the results of a batch of events. */
export const reportResults = (
  { logger, metrics }: { readonly logger: ReportLogger; readonly metrics: MetricLog },
  events: readonly UsageEvent[],
  results: readonly EventResult[],
): void => {
  const count = (name: string, matches: (result: EventResult) => boolean) => {
    const matching = results.filter(matches).length;
    if (matching > 0) metrics.addMetric(name, MetricUnit.Count, matching);
  };
  for (const [index, event] of events.entries()) logResult(logger, event, results[index] as EventResult);
  const untracked = events.reduce((sum, event) => sum + (event.kind === 'untracked' ? event.requests : 0), 0);
  if (untracked > 0) metrics.addMetric('UntrackedRequests', MetricUnit.Count, untracked);
  const record = (result: EventResult) => (result.kind === 'recorded' ? result.record : undefined);
  count('RecordedEvents', (result) => result.kind === 'recorded');
  count('KnownEvents', (result) => result.kind === 'known');
  count('UnfinishedRequests', (result) => record(result)?.outcome === 'unknown');
  count('OverflowRequests', (result) => (record(result)?.overflowLevel ?? 0) > 0);
  count('UnownedEvents', (result) => result.kind === 'unowned');
  count('ExpiredEvents', (result) => result.kind === 'expired');
  count('FailedEvents', (result) => result.kind === 'failed');
};
