import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import type { EventFate } from './record-events.ts';

export type ReportLogger = Pick<Logger, 'error' | 'warn'>;
export interface ReportMetrics {
  addMetric(name: string, unit: typeof MetricUnit.Count, value: number): unknown;
}

const errorName = (error: unknown): string => (error instanceof Error ? error.name : String(error));

/** Says of one event what people must know: identifiers only, never a key or content. */
const logFate = (logger: ReportLogger, event: UsageEvent, fate: EventFate): void => {
  const { requestId, kind } = event;
  const names = { requestId, eventKind: kind, ...(kind !== 'untracked' && { provider: event.provider }) };
  if (fate.kind === 'unowned') logger.warn('Usage event dropped: its service key is unknown', names);
  if (fate.kind === 'expired') logger.warn('Usage event dropped: older than its account keeps records', names);
  if (fate.kind === 'failed')
    logger.error(fate.permanent ? 'Usage event refused by the table' : 'Usage event not recorded', {
      ...names,
      errorName: errorName(fate.error),
    });
};

/** Logs and counts what became of a batch's events. */
export const reportFates = (
  { logger, metrics }: { readonly logger: ReportLogger; readonly metrics: ReportMetrics },
  events: readonly UsageEvent[],
  fates: readonly EventFate[],
): void => {
  const count = (name: string, matches: (fate: EventFate) => boolean) => {
    const matching = fates.filter(matches).length;
    if (matching > 0) metrics.addMetric(name, MetricUnit.Count, matching);
  };
  for (const [index, event] of events.entries()) logFate(logger, event, fates[index] as EventFate);
  const untracked = events.reduce((sum, event) => sum + (event.kind === 'untracked' ? event.requests : 0), 0);
  if (untracked > 0) metrics.addMetric('UntrackedRequests', MetricUnit.Count, untracked);
  const record = (fate: EventFate) => (fate.kind === 'recorded' ? fate.record : undefined);
  count('RecordedEvents', (fate) => fate.kind === 'recorded');
  count('KnownEvents', (fate) => fate.kind === 'known');
  count('UnsettledRequests', (fate) => record(fate)?.outcome === 'unknown');
  count('FoldedRequests', (fate) => (record(fate)?.foldLevel ?? 0) > 0);
  count('UnownedEvents', (fate) => fate.kind === 'unowned');
  count('ExpiredEvents', (fate) => fate.kind === 'expired');
  count('FailedEvents', (fate) => fate.kind === 'failed');
};
