import { Aws } from 'aws-cdk-lib';
import { Alarm, type ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

export interface RunbookAlarm {
  readonly id: string;
  /** What is wrong, for the person on call. */
  readonly summary: string;
  /** Anchor of the heading in the runbook. */
  readonly section: string;
  readonly metric: IMetric;
  readonly operator: ComparisonOperator;
  readonly threshold: number;
  /** How many periods of the metric must breach, out of how many; 1 of 1 by default. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** No data means that something did not run; elsewhere it means that there was nothing to count. */
  readonly missingIsBreach?: boolean;
  /** A percentile of few samples is meaningless: the alarm keeps its state then. */
  readonly ignoresFewSamples?: boolean;
}

export interface AlarmTopicProps {
  readonly mail: string | undefined;
  readonly runbookUrl: string;
}

/** The topic of all alarms. Every alarm names its section of the runbook. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;
  readonly #runbookUrl: string;

  constructor(scope: Construct, id: string, { mail, runbookUrl }: AlarmTopicProps) {
    super(scope, id);
    this.#runbookUrl = runbookUrl;
    this.topic = new Topic(this, 'Topic', { enforceSSL: true });
    // A topic with its own policy loses the default one, which lets alarms of the account publish.
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
