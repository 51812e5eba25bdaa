import { Stack, type StackProps } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { StageSettings } from '../config.ts';
import { AlarmTopic } from '../constructs/alarm-topic.ts';
import type { ScheduledFunction } from '../constructs/scheduled-function.ts';
import { alarms } from './alarms/alarms.ts';
import { widgets } from './operations-dashboard.ts';
import type { ProviderProxy } from './provider-proxy.ts';

/** What is watched. */
export interface Monitored {
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly usage: {
    readonly queue: Queue;
    readonly deadLetterQueue: Queue;
    readonly recorder: LambdaFunction;
  };
  readonly gateway: {
    readonly proxies: readonly ProviderProxy[];
    /** Counts the log lines of events that could not be delivered. */
    readonly lostEvents: { readonly namespace: string; readonly metricName: string };
  };
  readonly scheduled: readonly ScheduledFunction[];
  readonly dashboard: { readonly api: RestApi; readonly handlers: readonly LambdaFunction[] };
}

/** Alarms by mail, and one dashboard that shows the way of a request from left to right and top to bottom. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, id: string, { monitored, ...props }: StackProps & { readonly monitored: Monitored }) {
    super(scope, id, props);
    const { settings } = monitored;

    const topic = new AlarmTopic(this, 'Alarms', { mail: settings.alarmMail, runbookUrl: settings.runbookUrl });
    for (const alarm of alarms(monitored)) topic.raise(alarm);

    new Dashboard(this, 'Dashboard', {
      widgets: widgets(monitored),
    });
  }
}
