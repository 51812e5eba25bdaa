import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, type MetricUnit } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';

/** The part of Metrics that most code needs. */
export interface MetricLog {
  addMetric(name: string, unit: (typeof MetricUnit)['Count' | 'Milliseconds'], value: number): unknown;
}

/** The log and metrics of a function that runs on a schedule, and its handler: metrics are published even if the work fails. */
export const onSchedule = (serviceName: string) => {
  const logger = new Logger({ serviceName });
  const metrics = new Metrics({ serviceName });
  const handlerOf =
    (work: (remainingMs: () => number) => Promise<unknown>): ScheduledHandler =>
    async (_event, context) => {
      logger.addContext(context);
      try {
        await work(() => context.getRemainingTimeInMillis());
      } finally {
        metrics.publishStoredMetrics();
      }
    };
  return { logger, metrics, handlerOf };
};
