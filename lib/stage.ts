import { Aspects, type IAspect, Stage } from 'aws-cdk-lib';
import { CfnStage } from 'aws-cdk-lib/aws-apigateway';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import type { StageSettings } from './config.ts';
import { acknowledge } from './constructs/acknowledge.ts';
import { grantActions } from './constructs/grants.ts';
import { HandlerFunction } from './constructs/handler-function.ts';
import { raiseAlarms } from './constructs/runbook-alarms.ts';
import { AccountJobsStack } from './stacks/account-jobs.ts';
import { AlarmTopicStack } from './stacks/alarm-topic.ts';
import { alertAlarms, mailAlarms } from './stacks/alarms/alert-alarms.ts';
import { gatewayAlarms } from './stacks/alarms/gateway-alarms.ts';
import {
  billingAlarms,
  certificateAlarms,
  dashboardAlarms,
  scheduledAlarms,
  tableAlarms,
} from './stacks/alarms/service-alarms.ts';
import { exportAlarms, usageAlarms } from './stacks/alarms/usage-alarms.ts';
import { AlertsStack } from './stacks/alerts.ts';
import { BillingStack } from './stacks/billing.ts';
import { DashboardApiStack } from './stacks/dashboard-api.ts';
import { DataStack } from './stacks/data.ts';
import { ExportsStack } from './stacks/exports.ts';
import { GatewayStack } from './stacks/gateway.ts';
import { IdentityStack } from './stacks/identity.ts';
import { MailStack } from './stacks/mail.ts';
import { stageMetrics } from './stacks/metrics.ts';
import { MonitoringStack } from './stacks/operations-dashboard.ts';
import { stageVariables } from './stacks/resources.ts';
import { UsageStack } from './stacks/usage.ts';
import { WebStack } from './stacks/web.ts';

/** Has AWS X-Ray trace requests from the APIs through their functions and queues. */
class Traces implements IAspect {
  visit(node: IConstruct): void {
    if (node instanceof CfnStage) node.tracingEnabled = true;
    if (!(node instanceof HandlerFunction)) return;
    (node.node.defaultChild as CfnFunction).tracingConfig = { mode: 'Active' };
    grantActions(node, '*', 'xray:PutTraceSegments', 'xray:PutTelemetryRecords');
    if (node.role)
      acknowledge(node.role, {
        'IAM5[Resource::*]': 'Traces have no ARN: X-Ray takes these two actions on all resources alone.',
      });
  }
}

/** The whole service in one account and region. */
export class SpendGatewayStage extends Stage {
  constructor(scope: Construct, settings: StageSettings) {
    super(scope, `ai-spend-${settings.name}`, {
      env: {
        ...(settings.account !== undefined && { account: settings.account }),
        ...(settings.region !== undefined && { region: settings.region }),
      },
    });
    if (settings.traces) Aspects.of(this).add(new Traces());
    const { topic } = new AlarmTopicStack(this, 'alarm-topic', { settings });
    const data = new DataStack(this, 'data', { settings });
    const { table, objects } = data;
    const mail = new MailStack(this, 'mail', { settings, table });
    const made = { settings, table, objects, mail: mail.sending };
    const shared = { ...made, variables: stageVariables(made) };
    const { userPool, userPoolClient, signOn } = new IdentityStack(this, 'identity', shared);
    const alerts = new AlertsStack(this, 'alerts', shared);
    const usage = new UsageStack(this, 'usage', { ...shared, jobQueue: alerts.jobQueue });
    const gateway = new GatewayStack(this, 'gateway', { ...shared, usageQueue: usage.queue });
    const exports = new ExportsStack(this, 'exports', shared);
    const billing = new BillingStack(this, 'billing', shared);
    const withUsers = { ...shared, userPool, userPoolClient, signOn, stripe: billing.stripe };
    const dashboard = new DashboardApiStack(this, 'dashboard-api', withUsers);
    const jobs = new AccountJobsStack(this, 'account-jobs', withUsers);
    const web = settings.hasPages ? new WebStack(this, 'web', { settings, gateway, dashboard }) : undefined;

    const metrics = stageMetrics(settings.name);
    const notify = { topic, runbookUrl: settings.runbookUrl };
    raiseAlarms(data, notify, tableAlarms(table));
    raiseAlarms(mail, notify, mailAlarms(mail));
    raiseAlarms(usage, notify, [...usageAlarms(metrics, settings, usage), ...scheduledAlarms(usage.scheduled)]);
    raiseAlarms(exports, notify, [...exportAlarms(metrics), ...scheduledAlarms(exports.scheduled)]);
    raiseAlarms(gateway, notify, [...gatewayAlarms(metrics, gateway), ...certificateAlarms(gateway.certificate)]);
    raiseAlarms(billing, notify, [...billingAlarms(metrics), ...scheduledAlarms(billing.scheduled)]);
    raiseAlarms(jobs, notify, scheduledAlarms(jobs.scheduled));
    raiseAlarms(dashboard, notify, [...dashboardAlarms(dashboard.api), ...certificateAlarms(dashboard.certificate)]);
    if (web) raiseAlarms(web, notify, certificateAlarms(web.certificate));
    raiseAlarms(alerts, notify, [...alertAlarms(metrics, alerts), ...scheduledAlarms(alerts.scheduled)]);
    const scheduled = [
      ...usage.scheduled,
      ...exports.scheduled,
      ...alerts.scheduled,
      ...billing.scheduled,
      ...jobs.scheduled,
    ];
    new MonitoringStack(this, 'monitoring', { metrics, table, usage, gateway, dashboard, scheduled });
  }
}
