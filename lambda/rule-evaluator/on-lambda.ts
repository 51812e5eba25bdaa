import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { openTable } from '../data/table/table.ts';
import { SECOND_MS } from '../domain/calendar/units.ts';
import { evaluatorEnvironment } from '../environment.ts';
import { openMail } from '../integrations/mail.ts';
import { queueSender } from '../integrations/queue-sender.ts';
import { webhookAccess, webhookPoster } from '../integrations/webhook.ts';

/** The parts that both functions of the evaluator share. They write the same metrics, which have one `service`. */
export const openOnLambda = () => {
  const environment = evaluatorEnvironment.parse(process.env);
  const logger = new Logger({ serviceName: 'rule-evaluator' });
  const metrics = new Metrics({ serviceName: 'rule-evaluator' });
  const now = () => new Date();
  // A run that began in time has as long: whoever waits then gets the mail in another.
  const sendMail = openMail(environment, { maxMs: 45 * SECOND_MS });
  return {
    table: openTable(environment.TABLE_NAME),
    metrics,
    /** Notes how late it is for a round that was due at an instant, ISO 8601. */
    measureLag: (due: string): void => {
      metrics.addMetric('EvaluationLagMs', MetricUnit.Milliseconds, now().getTime() - Date.parse(due));
    },
    options: {
      sendMail: async (...mail: Parameters<typeof sendMail>): Promise<void> => {
        try {
          await sendMail(...mail);
        } catch (error) {
          metrics.addMetric('MailFailures', MetricUnit.Count, 1);
          throw error;
        }
      },
      postWebhook: webhookPoster(webhookAccess(environment.WEBHOOK_TARGETS)),
      dashboardUrl: environment.DASHBOARD_URL,
      send: queueSender(environment.JOB_QUEUE_URL),
      now,
      logger,
    },
  };
};
