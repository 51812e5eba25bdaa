import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod';
import { alertDeliveryRepository } from '../data/alert-deliveries.ts';
import { alertRepository } from '../data/alerts.ts';
import { ruleRepository } from '../data/rules.ts';
import { serviceKeyRepository } from '../data/service-keys.ts';
import { spendReader } from '../data/spend.ts';
import { openTable } from '../data/table.ts';
import { userRepository } from '../data/users.ts';
import type { RuleEvaluatorEnvironment } from '../environment.ts';
import { mailSender, sesClient } from '../integrations/mail.ts';
import { postWebhook } from '../integrations/webhook.ts';
import { deliverAlert } from './deliver-alert.ts';
import { evaluateAccount } from './evaluate-account.ts';
import { runEvaluator } from './run.ts';

const environment = z
  .object({
    TABLE_NAME: z.string().min(1),
    MAIL_FROM: z.string().min(3),
    DASHBOARD_URL: z.url(),
  } satisfies Record<keyof RuleEvaluatorEnvironment, z.ZodType>)
  .parse(process.env);

const logger = new Logger({ serviceName: 'rule-evaluator' });
const metrics = new Metrics({ namespace: 'AiSpendGateway', serviceName: 'rule-evaluator' });
const table = openTable(environment.TABLE_NAME);
const now = () => new Date();
const alerts = alertRepository(table);
const deliveries = alertDeliveryRepository(table);
const rules = ruleRepository(table);
const sendMail = mailSender(sesClient(), environment.MAIL_FROM);
const run = runEvaluator({
  rules,
  deliveries,
  evaluate: evaluateAccount({
    readCells: spendReader(table).cells,
    alerts,
    keys: serviceKeyRepository(table),
    newAlertId: uuidv7,
  }),
  deliver: deliverAlert({
    deliveries,
    rules,
    users: userRepository(table),
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
  }),
  now,
  logger,
});

/** When a run was due; one that somebody starts by hand is due now. */
const scheduleSchema = z.object({ time: z.iso.datetime() }).catch(() => ({ time: now().toISOString() }));

/** Every minute: alert rules to alerts, alerts to mail and webhooks. */
export const handler = async (event: unknown): Promise<void> => {
  const due = Date.parse(scheduleSchema.parse(event).time);
  const { failures, ...counts } = await run();
  logger.info('rules judged', { ...counts, failures });
  metrics.addMetric('EvaluationFailures', MetricUnit.Count, failures);
  metrics.addMetric('AlertsFired', MetricUnit.Count, counts.alerts);
  metrics.addMetric('EvaluationLagMs', MetricUnit.Milliseconds, now().getTime() - due);
  metrics.publishStoredMetrics();
};
