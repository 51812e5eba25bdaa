import { Aws, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { StageResources } from './resources.ts';

/** The topic of all alarms, deployed before them: each stack has the alarms of its own resources. */
export class AlarmTopicStack extends Stack {
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, { settings }: Pick<StageResources, 'settings'>) {
    super(scope, id);
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    // A topic with its own policy loses the default one, which lets alarms of the account publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (settings.alarmMail !== undefined) topic.addSubscription(new EmailSubscription(settings.alarmMail));
    this.topic = topic;
  }
}
