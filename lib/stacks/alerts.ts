import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { RuleEvaluatorEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { metricNamespace } from '../constructs/log-line-count.ts';
import { ScheduledFunction } from '../constructs/scheduled-function.ts';
import { grantItems } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { grantSendMail, type MailSending } from './mail.ts';
import { partitions } from './partitions.ts';

interface AlertsStackProps extends StackProps {
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly mail: MailSending;
}

/** From alert rules to mails and webhooks. */
export class AlertsStack extends Stack {
  readonly scheduled: readonly ScheduledFunction[];

  constructor(scope: Construct, id: string, { settings, table, mail, ...props }: AlertsStackProps) {
    super(scope, id, props);
    const evaluator = new ScheduledFunction(this, 'RuleEvaluator', {
      entry: 'lambda/rule-evaluator/handler.ts',
      description: 'Alert rules -> alerts -> mail and webhooks',
      every: Duration.minutes(1),
      environment: {
        TABLE_NAME: table.tableName,
        POWERTOOLS_METRICS_NAMESPACE: metricNamespace(settings.name),
        MAIL_FROM: mail.from,
        MAIL_CONFIGURATION_SET: mail.configurationSetName,
        DASHBOARD_URL: settings.dashboardUrl ?? `https://${settings.dashboardDomain}`,
      } satisfies RuleEvaluatorEnvironment,
      // Runs may overlap: an alert still fires once and is sent once.
      timeout: Duration.minutes(5),
      memoryMb: 1024,
      retention: settings.retention,
    });
    grantItems(
      evaluator,
      table,
      {
        actions: ['Query'],
        partitions: [...partitions.activeRules, ...partitions.undeliveredAlerts],
        index: INDEX_NAME,
      },
      { actions: ['GetItem', 'UpdateItem'], partitions: partitions.evaluator },
      { actions: ['Query'], partitions: partitions.spend },
      { actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem'], partitions: partitions.accounts },
    );
    grantSendMail(evaluator, this, mail);
    this.scheduled = [evaluator];
  }
}
