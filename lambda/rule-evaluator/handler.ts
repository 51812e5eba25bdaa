import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { openEvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import { openOnLambda } from './on-lambda.ts';
import { openPending } from './open-judge.ts';
import { startRound } from './start-round.ts';

const { table, metrics, measureLag, options } = openOnLambda();
const start = startRound({ progress: openEvaluationProgress(table), ...options });
const deliver = openPending(table, options);

/** When the run was due. A run that was started by hand is due now. */
const scheduleSchema = z.catch(z.object({ time: z.iso.datetime() }), () => ({ time: options.now().toISOString() }));

/** Runs every minute: sends the shards of alert rules to the workers, and delivers pending alerts. */
export const handler = async (event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
  const { time: due } = scheduleSchema.parse(event);
  let failures = 0;
  try {
    const { oldestDue, ...round } = await start(due);
    options.logger.info('round started', { due, oldestDue, ...round });
    failures += round.failures;
    // A round that does not end is as late as it is old.
    if (oldestDue !== null) measureLag(oldestDue);
  } finally {
    // Alerts are delivered even if the round fails.
    failures += (await deliver(() => context.getRemainingTimeInMillis())).failures;
    measureLag(due);
    metrics.addMetric('EvaluationFailures', MetricUnit.Count, failures);
    metrics.publishStoredMetrics();
  }
};
