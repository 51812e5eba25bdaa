import { Duration, Stack } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ACTIVE_RULE_SHARDS } from '../../lambda/data/table/keys.ts';
import { evaluatorEnvironment } from '../../lambda/environment.ts';
import { ConsumedQueue } from '../constructs/consumed-queue.ts';
import { grantSend } from '../constructs/grants.ts';
import { HandlerFunction, ScheduledFunction, variablesOf } from '../constructs/handler-function.ts';
import { grantItems } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { grantSendMail } from './mail.ts';
import { partitions } from './partitions.ts';
import type { StageResources } from './resources.ts';

/** A worker takes new accounts for half of it, and passes the rest on as another job. */
const WORKER_TIMEOUT = Duration.minutes(2);

/** From alert rules to mails and webhooks: each minute the evaluator sends jobs to its workers, which judge the rules. */
export class AlertsStack extends Stack {
  readonly scheduled: readonly ScheduledFunction[];
  readonly worker: HandlerFunction;
  /** Rules to judge. */
  readonly jobQueue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(
    scope: Construct,
    id: string,
    { settings, variables, table, mail }: Pick<StageResources, 'settings' | 'variables' | 'table' | 'mail'>,
  ) {
    super(scope, id);
    const jobs = new ConsumedQueue(this, 'EvaluationJobs', {
      // An alert fires once and is sent once, however often it is judged. The third delivery is over before the evaluator takes a job
      // for lost: see lambda/rule-evaluator/start-round.ts.
      visibilityTimeout: Duration.minutes(3),
      maxReceiveCount: 3,
      retention: settings.retention,
    });
    const environment = variablesOf(evaluatorEnvironment, { ...variables, JOB_QUEUE_URL: jobs.queue.queueUrl });

    const worker = new HandlerFunction(this, 'RuleWorker', {
      entry: 'lambda/rule-evaluator/worker/handler.ts',
      description: 'Jobs of the rule evaluator -> alerts -> mail and webhooks',
      environment,
      timeout: WORKER_TIMEOUT,
      retention: settings.retention,
    });
    jobs.addConsumer(worker, {
      batchSize: 1,
      maxBatchingWindow: Duration.seconds(0),
      maxConcurrency: ACTIVE_RULE_SHARDS,
    });

    const evaluator = new ScheduledFunction(this, 'RuleEvaluator', {
      entry: 'lambda/rule-evaluator/handler.ts',
      description: 'Alert rules -> jobs; pending alerts -> mail and webhooks',
      every: Duration.minutes(1),
      environment,
      // Runs may overlap: an alert is sent once.
      timeout: Duration.minutes(5),
      memoryMb: 512,
      retention: settings.retention,
    });

    const progress = { actions: ['GetItem', 'UpdateItem'], partitions: partitions.evaluator } as const;
    grantItems(
      worker,
      table,
      { actions: ['Query'], partitions: partitions.activeRules, index: INDEX_NAME },
      progress,
      { actions: ['Query'], partitions: [...partitions.spend, ...partitions.sessions] },
      {
        actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
        partitions: partitions.accounts,
      },
      // Budgets stop requests by these items, which are written if the budgets are still the same.
      { actions: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'], partitions: partitions.blocks },
      // A pause is written with its entry in the audit log.
      { actions: ['GetItem', 'PutItem'], partitions: partitions.audit },
    );
    grantItems(
      evaluator,
      table,
      { actions: ['Query'], partitions: partitions.undeliveredAlerts, index: INDEX_NAME },
      progress,
      // The rule's webhook, the account's users, the alert.
      { actions: ['GetItem', 'Query', 'UpdateItem'], partitions: partitions.accounts },
    );
    for (const each of [evaluator, worker]) {
      grantSend(each, jobs.queue);
      grantSendMail(each, this, mail);
    }
    this.jobQueue = jobs.queue;
    this.scheduled = [evaluator];
    this.worker = worker;
    this.deadLetterQueue = jobs.deadLetterQueue;
  }
}
