import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { openTable } from '../data/table/table.ts';
import type { RuleEvaluatorEnvironment } from '../environment.ts';
import { mailSender, sesClient } from '../integrations/mail.ts';
import { postWebhook } from '../integrations/webhook.ts';
import { openEvaluator } from './open-evaluator.ts';

const environment = z
  .object({
    TABLE_NAME: z.string().check(z.minLength(1)),
    POWERTOOLS_METRICS_NAMESPACE: z.string().check(z.minLength(1)),
    MAIL_FROM: z.string().check(z.minLength(3)),
    MAIL_CONFIGURATION_SET: z.string().check(z.minLength(1)),
    DASHBOARD_URL: z.url(),
  } satisfies Record<keyof RuleEvaluatorEnvironment, z.ZodMiniType>)
  .parse(process.env);

const logger = new Logger({ serviceName: 'rule-evaluator' });
const metrics = new Metrics({ serviceName: 'rule-evaluator' });
const now = () => new Date();
const sendMail = mailSender(sesClient(), {
  from: environment.MAIL_FROM,
  configurationSet: environment.MAIL_CONFIGURATION_SET,
});
const run = openEvaluator(openTable(environment.TABLE_NAME), {
  sendMail: async (mail) => {
    try {
      await sendMail(mail);
    } catch (error) {
      metrics.addMetric('MailFailures', MetricUnit.Count, 1);
      throw error;
    }
  },
  postWebhook: (webhook, body, at) => postWebhook(webhook, body, at),
  dashboardUrl: environment.DASHBOARD_URL,
  now,
  logger,
});

/** When the run was due. A run that was started by hand is due now. */
const scheduleSchema = z.catch(z.object({ time: z.iso.datetime() }), () => ({ time: now().toISOString() }));

/** Runs every minute: delivers pending alerts, and judges the alert rules. */
export const handler = async (event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
  const due = Date.parse(scheduleSchema.parse(event).time);
  const { failures, ...counts } = await run(() => context.getRemainingTimeInMillis());
  logger.info('rules judged', { ...counts, failures });
  metrics.addMetric('EvaluationFailures', MetricUnit.Count, failures);
  metrics.addMetric('AlertsFired', MetricUnit.Count, counts.alerts);
  metrics.addMetric('EvaluationLagMs', MetricUnit.Milliseconds, now().getTime() - due);
  metrics.publishStoredMetrics();
};
