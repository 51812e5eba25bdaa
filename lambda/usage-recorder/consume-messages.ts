import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import pMap from 'p-map';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import type { MetricLog } from '../on-schedule.ts';
import { type MessagePart, PoisonEventError, partsOf, usageEventOf } from './parse-event.ts';
import type { Recorder } from './recorder.ts';
import { type ReportLogger, reportResults } from './report.ts';

interface Dependencies {
  readonly record: Recorder;
  /** Sends a message's text to the dead letters. @returns its id there */
  readonly giveUp: (text: string) => Promise<string>;
  readonly logger: ReportLogger;
  readonly metrics: MetricLog;
}

const SENDS_AT_ONCE = 16;

/** One event of a message. */
type Part = Pick<MessagePart, 'text'> & { readonly messageId: string };

/**
 * Records a batch of queue messages and returns those that the queue must deliver again, for a day at most: those with an event that
 * failed. What would fail each time is sent to the dead letters, alone, once the rest of its message is on record: what is no usage event,
 * and an event that the table refuses.
 */
export const consumeMessages =
  ({ record, giveUp, logger, metrics }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failures = new Set<string>();
    const hopeless: Part[] = [];
    const parsed: (Part & { readonly event: UsageEvent })[] = [];
    for (const { messageId, text, json } of Records.flatMap(({ messageId, body }) =>
      partsOf(body).map((part) => ({ messageId, ...part })),
    )) {
      try {
        parsed.push({ messageId, text, event: usageEventOf(json) });
      } catch (error) {
        const issues = error instanceof PoisonEventError ? error.issues : [];
        logger.error('Message is not a usage event', { messageId, issues });
        metrics.addMetric('PoisonMessages', MetricUnit.Count, 1);
        hopeless.push({ messageId, text });
      }
    }
    const events = parsed.map(({ event }) => event);
    const results = await record(events);
    reportResults({ logger, metrics }, events, results);
    for (const [index, message] of parsed.entries()) {
      const result = results[index];
      if (result?.kind === 'failed' && result.permanent) hopeless.push(message);
      else if (result?.kind === 'failed') failures.add(message.messageId);
    }
    const toDeadLetters = async ({ messageId, text }: Part) => {
      try {
        logger.warn('Message given up', { messageId, deadLetterId: await giveUp(text()) });
      } catch (error) {
        logger.error('Dead letter not sent', { messageId, errorName: (error as Error).name });
        failures.add(messageId);
      }
    };
    const givenUp = hopeless.filter(({ messageId }) => !failures.has(messageId));
    await pMap(givenUp, toDeadLetters, { concurrency: SENDS_AT_ONCE });
    return { batchItemFailures: [...failures].map((itemIdentifier) => ({ itemIdentifier })) };
  };
