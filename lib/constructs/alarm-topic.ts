import { Aws } from 'aws-cdk-lib';
import { Alarm, type ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

export interface RunbookAlarm {
  readonly id: string;
  /** What is the matter, for whoever is woken by it. */
  readonly summary: string;
  /** Heading of the runbook, as its anchor. */
  readonly section: string;
  readonly metric: IMetric;
  readonly operator: ComparisonOperator;
  readonly threshold: number;
  /** How many periods of the metric must breach, out of how many; 1 of 1 by default. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** No data means that something did not run; elsewhere it means that there was nothing to count. */
  readonly missingIsBreach?: boolean;
  /** A percentile of a handful of samples says nothing: the alarm keeps its state then. */
  readonly ignoresFewSamples?: boolean;
}

export interface AlarmTopicProps {
  readonly mail: string | undefined;
  readonly runbookUrl: string;
}

/** Where alarms go. Whatever it raises says where in the runbook to read on. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;
  readonly #runbookUrl: string;

  constructor(scope: Construct, id: string, { mail, runbookUrl }: AlarmTopicProps) {
    super(scope, id);
    this.#runbookUrl = runbookUrl;
    this.topic = new Topic(this, 'Topic', { enforceSSL: true });
    // A topic with a policy of its own has lost the default one, by which alarms of the account may publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (mail !== undefined) this.topic.addSubscription(new EmailSubscription(mail));
  }

  raise(alarm: RunbookAlarm): Alarm {
    const { breaching, of } = alarm.periods ?? { breaching: 1, of: 1 };
    const made = new Alarm(this, alarm.id, {
      alarmDescription: `${alarm.summary} Runbook: ${this.#runbookUrl}#${alarm.section}`,
      metric: alarm.metric,
      comparisonOperator: alarm.operator,
      threshold: alarm.threshold,
      datapointsToAlarm: breaching,
      evaluationPeriods: of,
      ...(alarm.ignoresFewSamples ? { evaluateLowSampleCountPercentile: 'ignore' } : {}),
      treatMissingData: alarm.missingIsBreach ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(this.topic);
    made.addAlarmAction(action);
    made.addOkAction(action);
    return made;
  }
}
