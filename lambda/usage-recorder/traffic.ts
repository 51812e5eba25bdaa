import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { chunk } from '../data/table/batch.ts';
import type { HostLabel } from '../domain/hosts.ts';
import type { CloseEvent, UsageEvent } from '../domain/usage/usage-event.ts';
import type { Observer } from './observers.ts';
import type { EventResult } from './recorder.ts';

/** At 100 values of a metric Powertools publishes the document by itself and loses the dimensions. */
const MAX_VALUES = 99;

type FinishedRequest = { readonly close: CloseEvent; readonly unpriced: boolean };

/** The requests whose end this batch recorded, each once: a copy of an event has the result of the first. */
const finishedBy = (events: readonly UsageEvent[], results: readonly EventResult[]): FinishedRequest[] => {
  const finished = new Map<string, FinishedRequest>();
  for (const [index, event] of events.entries()) {
    const result = results[index];
    if (event.kind !== 'close' || result?.kind !== 'recorded' || finished.has(event.requestId)) continue;
    finished.set(event.requestId, { close: event, unpriced: result.record.provenance === 'unknown' });
  }
  return [...finished.values()];
};

const publish = (metrics: Metrics, provider: HostLabel, finished: readonly FinishedRequest[]): void => {
  const { Count, Milliseconds } = MetricUnit;
  const count = (matches: (request: FinishedRequest) => boolean) => finished.filter(matches).length;
  // Under the dimension of the service alone, too.
  metrics.addDimensions({});
  metrics.addDimensions({ provider });
  metrics.addMetric('Requests', Count, finished.length);
  metrics.addMetric(
    'BypassedRequests',
    Count,
    // Requests that were confirmed late are on record: the alarm is for tracking that fails.
    count(({ close }) => close.route === 'bypassed' && !close.isConfirmedLate),
  );
  metrics.addMetric(
    'UnpricedRequests',
    Count,
    count(({ unpriced }) => unpriced),
  );
  for (const { close } of finished) {
    if (typeof close.overheadMs === 'number') metrics.addMetric('OverheadMs', Milliseconds, close.overheadMs);
    if (close.ttfbMs !== null) metrics.addMetric('TimeToFirstByteMs', Milliseconds, close.ttfbMs);
  }
  metrics.publishStoredMetrics();
};

/**
 * Counts the gateway's traffic by provider. It counts here and not in the gateway because close events contain all the facts and clients
 * do not wait for it. Each request counts once, in the batch that records its end, so the metrics are as late as the queue.
 *
 * @param newMetrics returns an empty document
 */
export const traffic = (newMetrics: () => Metrics): Observer => ({
  name: 'traffic',
  observe: ({ events, results }) =>
    [...Map.groupBy(finishedBy(events, results), ({ close }) => close.provider)].flatMap(([provider, finished]) =>
      chunk(finished, MAX_VALUES).map((some) => async () => publish(newMetrics(), provider, some)),
    ),
});
