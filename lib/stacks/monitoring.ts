import { CrossStackReferences, ReferenceStrength, Stack, type StackProps } from 'aws-cdk-lib';
import { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { Monitored } from './monitored.ts';
import { widgets } from './operations-dashboard.ts';

/** One dashboard that shows the way of a request from left to right and top to bottom. Alarms are in the stacks of what they watch. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, id: string, { monitored, ...props }: StackProps & { readonly monitored: Monitored }) {
    super(scope, id, props);
    // A strong reference is an export, which CloudFormation does not delete while this stack, deployed last, still imports it: no
    // function or isolated provider could be renamed or removed.
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    new Dashboard(this, 'Dashboard', { widgets: widgets(monitored) });
  }
}
