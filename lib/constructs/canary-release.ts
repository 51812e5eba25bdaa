import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

export interface CanaryReleaseProps {
  readonly alias: Alias;
  /** Per cent of the new version's requests that may end in an error. */
  readonly maxErrorPercent: number;
  /** Section of the runbook for whoever finds a release taken back. */
  readonly runbook: string;
}

const MINUTE = Duration.minutes(1);

/**
 * A new version of a function gets a tenth of the requests for five minutes, and the rest only if it did well; if it did not, the
 * alias points back at the old one and the deployment fails.
 */
export class CanaryRelease extends Construct {
  constructor(scope: Construct, id: string, { alias, maxErrorPercent, runbook }: CanaryReleaseProps) {
    super(scope, id);
    // Of the new version alone: among all requests, a tenth of them failing would go unnoticed.
    const ofNewVersion = (metricName: string) =>
      new Metric({
        namespace: 'AWS/Lambda',
        metricName,
        dimensionsMap: {
          FunctionName: alias.lambda.functionName,
          Resource: `${alias.lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: alias.version.version,
        },
        statistic: Stats.SUM,
        period: MINUTE,
      });
    const alarm = new Alarm(this, 'Errors', {
      alarmDescription: `The new version fails: it is taken back. Runbook: ${runbook}`,
      metric: new MathExpression({
        label: 'Errors of the new version, %',
        expression: 'IF(invocations > 0, 100 * FILL(errors, 0) / invocations)',
        usingMetrics: { errors: ofNewVersion('Errors'), invocations: ofNewVersion('Invocations') },
        period: MINUTE,
      }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: maxErrorPercent,
      evaluationPeriods: 2,
      datapointsToAlarm: 2,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const group = new LambdaDeploymentGroup(this, 'Group', {
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [alarm],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // Before the first request goes to the new version, the alarm must look at it, and no longer at the one before.
    alias.node.addDependency(alarm);
    Validations.of(group).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'The policy AWS keeps for this: CodeDeploy shifts aliases with it and may invoke nothing.',
    });
  }
}
