import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

export interface CanaryReleaseProps {
  readonly alias: Alias;
  /** Per cent of the new version's requests that may end in an error. */
  readonly maxErrorPercent: number;
  /** Section of the runbook about a release that was rolled back. */
  readonly runbook: string;
}

const MINUTE = Duration.minutes(1);

/**
 * A new version of a function gets a tenth of the requests for five minutes, then all of them. If the alarm rings before, the
 * alias returns to the old version and the deployment fails.
 */
export class CanaryRelease extends Construct {
  constructor(scope: Construct, id: string, { alias, maxErrorPercent, runbook }: CanaryReleaseProps) {
    super(scope, id);
    // Counts the new version only: failures of a tenth of all requests would go unnoticed.
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
    // The alarm must watch the new version, not the old one, before its first request.
    alias.node.addDependency(alarm);
    Validations.of(group).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'AWS maintains this policy: CodeDeploy may shift aliases with it and invoke nothing.',
    });
  }
}
