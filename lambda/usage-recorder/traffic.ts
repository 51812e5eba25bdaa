import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { chunk } from '../data/table/chunk.ts';
import type { ProviderLabel } from '../domain/providers.ts';
import type { CloseEvent, UsageEvent } from '../domain/usage/usage-event.ts';
import type { EventResult } from './record-events.ts';
import type { Recorder } from './recorder.ts';

/** One document of CloudWatch's embedded metric format: what Powertools' Metrics does until it is published. */
export interface TrafficMetrics {
  /** The metrics are filed under these dimensions; under none but the service's where there are none. */
  addDimensions(dimensions: Record<string, string>): unknown;
  addMetric(name: string, unit: (typeof MetricUnit)['Count' | 'Milliseconds'], value: number): unknown;
  publishStoredMetrics(): unknown;
}

/** Powertools publishes a document by itself when a metric has 100 values, and forgets the dimensions. */
const MAX_VALUES = 99;

type Settled = { readonly close: CloseEvent; readonly unpriced: boolean };

/** Requests settled by this batch, each once: a copy of an event shares the result of the first. */
const settledBy = (events: readonly UsageEvent[], results: readonly EventResult[]): Settled[] => {
  const settled = new Map<string, Settled>();
  for (const [index, event] of events.entries()) {
    const result = results[index];
    if (event.kind !== 'close' || result?.kind !== 'recorded' || settled.has(event.requestId)) continue;
    settled.set(event.requestId, { close: event, unpriced: result.record.provenance === 'unknown' });
  }
  return [...settled.values()];
};

const publish = (metrics: TrafficMetrics, provider: ProviderLabel, settled: readonly Settled[]): void => {
  const { Count, Milliseconds } = MetricUnit;
  const count = (matches: (each: Settled) => boolean) => settled.filter(matches).length;
  metrics.addDimensions({});
  metrics.addDimensions({ provider });
  metrics.addMetric('Requests', Count, settled.length);
  metrics.addMetric(
    'BypassedRequests',
    Count,
    count(({ close }) => close.route === 'bypassed'),
  );
  metrics.addMetric(
    'UnpricedRequests',
    Count,
    count(({ unpriced }) => unpriced),
  );
  for (const { close } of settled) {
    if (typeof close.overheadMs === 'number') metrics.addMetric('OverheadMs', Milliseconds, close.overheadMs);
    if (close.ttfbMs !== null) metrics.addMetric('TimeToFirstByteMs', Milliseconds, close.ttfbMs);
  }
  metrics.publishStoredMetrics();
};

/**
 * A recorder that also counts the gateway's traffic, by provider: here, and not in the gateway, because the close events hold
 * all the facts and counting them costs no client anything. Each request counts once, at the batch that settles it, so the
 * figures are as late as the queue is.
 *
 * @param newMetrics an empty document
 */
export const countingTraffic =
  (record: Recorder, newMetrics: () => TrafficMetrics): Recorder =>
  async (events) => {
    const results = await record(events);
    const byProvider = Map.groupBy(settledBy(events, results), ({ close }) => close.provider);
    for (const [provider, settled] of byProvider)
      for (const some of chunk(settled, MAX_VALUES)) publish(newMetrics(), provider, some);
    return results;
  };
