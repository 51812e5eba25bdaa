import { Stack, type StackProps } from 'aws-cdk-lib';
import { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { AlarmTopic } from '../constructs/alarm-topic.ts';
import { alarms } from './alarms/alarms.ts';
import type { Monitored } from './monitored.ts';
import { widgets } from './operations-dashboard.ts';

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
