import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import pMap from 'p-map';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import { PoisonEventError, parseUsageEvent } from './parse-event.ts';
import type { Recorder } from './recorder.ts';
import { type ReportLogger, type ReportMetrics, reportResults } from './report.ts';

interface Dependencies {
  readonly record: Recorder;
  /** Sends a message's text to the dead letters. @returns its id there */
  readonly giveUp: (text: string) => Promise<string>;
  readonly logger: ReportLogger;
  readonly metrics: ReportMetrics;
}

const SENDS_AT_ONCE = 16;

/**
 * Records a batch of queue messages and returns those that the queue must deliver again, for a day at most. What would fail each time
 * is sent to the dead letters at once: a message that is no usage event, and one that the table refuses.
 */
export const consumeMessages =
  ({ record, giveUp, logger, metrics }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failures: string[] = [];
    const hopeless: { readonly messageId: string; readonly body: string }[] = [];
    const parsed: { readonly messageId: string; readonly body: string; readonly event: UsageEvent }[] = [];
    for (const { messageId, body } of Records) {
      try {
        parsed.push({ messageId, body, event: parseUsageEvent(body) });
      } catch (error) {
        const issues = error instanceof PoisonEventError ? error.issues : [];
        logger.error('Message is not a usage event', { messageId, issues });
        metrics.addMetric('PoisonMessages', MetricUnit.Count, 1);
        hopeless.push({ messageId, body });
      }
    }
    const events = parsed.map(({ event }) => event);
    const results = await record(events);
    reportResults({ logger, metrics }, events, results);
    for (const [index, message] of parsed.entries()) {
      const result = results[index];
      if (result?.kind === 'failed' && result.permanent) hopeless.push(message);
      else if (result?.kind === 'failed') failures.push(message.messageId);
    }
    const toDeadLetters = async ({ messageId, body }: { readonly messageId: string; readonly body: string }) => {
      try {
        logger.warn('Message given up', { messageId, deadLetterId: await giveUp(body) });
      } catch (error) {
        logger.error('Dead letter not sent', { messageId, errorName: (error as Error).name });
        failures.push(messageId);
      }
    };
    await pMap(hopeless, toDeadLetters, { concurrency: SENDS_AT_ONCE });
    return { batchItemFailures: failures.map((itemIdentifier) => ({ itemIdentifier })) };
  };
