import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context, SQSEvent } from 'aws-lambda';
import { jobSchema } from '../job.ts';
import { openOnLambda } from '../on-lambda.ts';
import { openJudge } from '../open-judge.ts';

const { table, metrics, measureLag, options } = openOnLambda();
const judge = openJudge(table, options);

/** Judges the rules of one job, and delivers the alerts that fire. A job that fails comes again. */
export const handler = async (
  { Records }: Pick<SQSEvent, 'Records'>,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<void> => {
  try {
    for (const { body } of Records) {
      const job = jobSchema.parse(JSON.parse(body));
      const { failures, ...counts } = await judge(job, () => context.getRemainingTimeInMillis());
      const { due } = 'accountId' in job ? { due: null } : job;
      options.logger.info('rules judged', { due, ...counts, failures });
      metrics.addMetric('EvaluationFailures', MetricUnit.Count, failures);
      metrics.addMetric('AlertsFired', MetricUnit.Count, counts.alerts);
      if (due !== null) measureLag(due);
    }
  } finally {
    metrics.publishStoredMetrics();
  }
};
