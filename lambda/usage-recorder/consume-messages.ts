import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import { PoisonEventError, parseUsageEvent } from './parse-event.ts';
import type { Recorder } from './recorder.ts';
import { type ReportLogger, type ReportMetrics, reportResults } from './report.ts';

/**
 * Records a batch of queue messages and returns those that the queue must deliver again. A message that is not a usage event is
 * among them every time, until the queue moves it to the dead-letter queue.
 */
export const consumeMessages =
  ({ record, logger, metrics }: { record: Recorder; logger: ReportLogger; metrics: ReportMetrics }) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failures: string[] = [];
    const parsed: { readonly messageId: string; readonly event: UsageEvent }[] = [];
    for (const { messageId, body } of Records) {
      try {
        parsed.push({ messageId, event: parseUsageEvent(body) });
      } catch (error) {
        const issues = error instanceof PoisonEventError ? error.issues : [];
        logger.error('Message is not a usage event', { messageId, issues });
        metrics.addMetric('PoisonMessages', MetricUnit.Count, 1);
        failures.push(messageId);
      }
    }
    const events = parsed.map(({ event }) => event);
    const results = await record(events);
    reportResults({ logger, metrics }, events, results);
    for (const [index, { messageId }] of parsed.entries())
      if (results[index]?.kind === 'failed') failures.push(messageId);
    return { batchItemFailures: failures.map((itemIdentifier) => ({ itemIdentifier })) };
  };
