import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource, type SqsEventSourceProps } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Retention } from '../config.ts';

export interface ConsumedQueueProps {
  /**
   * How long the queue hides a message that was delivered: six times the consumer's time-out, or less if it works on a message twice
   * without harm.
   *
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-queueconfig
   */
  readonly visibilityTimeout: Duration;
  /** Deliveries before a message goes to the dead-letter queue. One that Lambda throttles counts. */
  readonly maxReceiveCount: number;
  readonly retention: Retention;
}

/** A queue and its dead-letter queue. Encrypted, TLS only. */
export class ConsumedQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: ConsumedQueueProps) {
    super(scope, id);
    this.deadLetterQueue = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // A message keeps its age when it moves here, so this exceeds the retention of the queue by the time needed to act.
      retentionPeriod: Duration.days(14),
      removalPolicy: props.retention.data,
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: props.visibilityTimeout,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: props.maxReceiveCount },
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /** @param consumer its handler returns `batchItemFailures` */
  addConsumer(consumer: IFunction, props: SqsEventSourceProps): void {
    consumer.addEventSource(new SqsEventSource(this.queue, { ...props, reportBatchItemFailures: true }));
  }
}
