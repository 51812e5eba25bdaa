import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { DAY_FILES } from '../../lambda/domain/object-keys.ts';
import {
  metricsEnvironment,
  priceFeedEnvironment,
  recorderEnvironment,
  repricingEnvironment,
  sweepEnvironment,
} from '../../lambda/environment.ts';
import { ConsumedQueue } from '../constructs/consumed-queue.ts';
import { grantObjects, grantSend } from '../constructs/grants.ts';
import { HandlerFunction, ScheduledFunction, variablesOf } from '../constructs/handler-function.ts';
import { grantItems, type TableAccess } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { partitions } from './partitions.ts';
import type { StageResources } from './resources.ts';

const RECORDER_TIMEOUT = Duration.seconds(60);
const VISIBILITY_TIMEOUT = Duration.seconds(6 * RECORDER_TIMEOUT.toSeconds());
/** As many as fit into a day. Events wait that long while functions of the account use all its concurrency, or the table is down. */
const MAX_RECEIVE_COUNT = Duration.days(1).toSeconds() / VISIBILITY_TIMEOUT.toSeconds();

/** From usage events to priced records: the queue, its recorder, the sweep of the outbox, the rollup of closed days and months, own prices. */
export class UsageStack extends Stack {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly recorder: HandlerFunction;
  readonly scheduled: readonly ScheduledFunction[];

  constructor(
    scope: Construct,
    id: string,
    resources: Pick<StageResources, 'settings' | 'variables' | 'table' | 'objects' | 'jobQueue'>,
  ) {
    super(scope, id);
    const { settings, variables, table, objects, jobQueue } = resources;
    const environment = variablesOf(metricsEnvironment, variables);
    const ofRecording = { ...variables, JOB_QUEUE_URL: jobQueue.queueUrl };
    const { maxConcurrency, batchSize, reservesConcurrency } = settings.recorder;

    const events = new ConsumedQueue(this, 'UsageEvents', {
      visibilityTimeout: VISIBILITY_TIMEOUT,
      maxReceiveCount: MAX_RECEIVE_COUNT,
      retention: settings.retention,
    });
    this.queue = events.queue;
    this.deadLetterQueue = events.deadLetterQueue;
    this.recorder = new HandlerFunction(this, 'Recorder', {
      entry: 'lambda/usage-recorder/handler.ts',
      description: 'Usage queue -> priced request records and spend counters',
      environment: variablesOf(recorderEnvironment, {
        ...ofRecording,
        DEAD_LETTER_QUEUE_URL: this.deadLetterQueue.queueUrl,
      }),
      timeout: RECORDER_TIMEOUT,
      retention: settings.retention,
      reservedConcurrency: reservesConcurrency ? maxConcurrency : undefined,
    });
    events.addConsumer(this.recorder, {
      batchSize,
      maxBatchingWindow: Duration.seconds(2),
      maxConcurrency,
    });
    for (const receiver of [jobQueue, this.deadLetterQueue]) grantSend(this.recorder, receiver);
    new CfnOutput(this, 'UsageQueueUrl', { value: this.queue.queueUrl });

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'lambda/usage-recorder/sweep/handler.ts',
      description: 'Outbox entries -> recorder',
      every: Duration.minutes(1),
      environment: variablesOf(sweepEnvironment, ofRecording),
      timeout: Duration.seconds(50),
      retention: settings.retention,
    });
    grantSend(sweep, jobQueue);

    const rollup = new ScheduledFunction(this, 'Rollup', {
      entry: 'lambda/usage-recorder/rollup/handler.ts',
      description: 'Closed days and months -> summaries of spend; alerts about plan limits',
      every: Duration.hours(1),
      environment,
      timeout: Duration.minutes(15),
      retention: settings.retention,
    });
    const repricingVariables = variablesOf(repricingEnvironment, variables);
    const ownPrices = new ScheduledFunction(this, 'OwnPrices', {
      entry: 'lambda/usage-recorder/own-prices/handler.ts',
      description: "Changes of accounts' own prices, ends of months -> requests priced again",
      every: Duration.minutes(5),
      environment: repricingVariables,
      timeout: Duration.minutes(4),
      retention: settings.retention,
    });
    const { everyMinutes, sources } = settings.priceFeed;
    const configured = Object.entries(sources).filter(([, url]) => url !== null);
    const priceFeed = new ScheduledFunction(this, 'PriceFeed', {
      entry: 'lambda/price-feed/handler.ts',
      description: 'Published prices -> versions of the price book',
      every: Duration.minutes(everyMinutes),
      environment: variablesOf(priceFeedEnvironment, {
        ...variables,
        PRICE_FEED_SOURCES: JSON.stringify(Object.fromEntries(configured)),
      }),
      timeout: Duration.minutes(3),
      memoryMb: 1769,
      retention: settings.retention,
    });

    const repricing = new ScheduledFunction(this, 'Repricing', {
      entry: 'lambda/usage-recorder/repricing/handler.ts',
      description: 'New versions of the price book -> prices of recorded requests',
      every: Duration.minutes(15),
      environment: repricingVariables,
      timeout: Duration.minutes(14),
      retention: settings.retention,
    });
    this.scheduled = [sweep, rollup, ownPrices, priceFeed, repricing];

    const writeRecords: readonly TableAccess[] = [
      { actions: ['GetItem', 'BatchGetItem'], partitions: partitions.accounts },
      { actions: ['BatchGetItem'], partitions: [...partitions.requestLogs, ...partitions.serviceKeys] },
      // The newest request of each day, where a month is sharded after it.
      { actions: ['Query'], partitions: partitions.requestLogs },
      // One transaction writes records, counters of spend and sessions, and the account's counters and guards.
      {
        actions: ['PutItem', 'UpdateItem'],
        partitions: [...partitions.accounts, ...partitions.requestLogs, ...partitions.spend, ...partitions.sessions],
      },
      // Names in alert rules keep their counters: see lambda/data/ledger/counter-slots.ts.
      { actions: ['Query'], partitions: partitions.accounts },
    ];
    const record: readonly TableAccess[] = [
      ...writeRecords,
      // Reservations that requests made from budgets; the transaction finishes them.
      { actions: ['GetItem', 'PutItem', 'UpdateItem'], partitions: partitions.blocks },
      // Says of a missing account whether it was deleted.
      { actions: ['GetItem'], partitions: partitions.deletedAccounts },
      // Sums: of a billing period, for alerts about the plan's limit; of months of accounts with own prices.
      { actions: ['Query'], partitions: partitions.spend },
    ];
    // Days of which requests are priced again are in the table meanwhile: see lambda/data/requests/return-day.ts.
    const returnDays: readonly TableAccess[] = [
      {
        actions: ['PutItem', 'UpdateItem', 'ConditionCheckItem'],
        partitions: [
          ...partitions.accounts,
          ...partitions.requestLogs,
          ...partitions.spend,
          ...partitions.sessions,
          // Values of limits of each are counted again in the same transaction.
          ...partitions.blocks,
        ],
      },
    ];
    for (const repricer of [ownPrices, repricing]) grantObjects(repricer, objects, [DAY_FILES], 's3:GetObject');
    const usePrices: readonly TableAccess[] = [
      { actions: ['GetItem'], partitions: partitions.prices },
      { actions: ['UpdateItem'], partitions: [...partitions.modelUse, ...partitions.priceDrift] },
    ];
    grantItems(this.recorder, table, ...record, ...usePrices);
    grantItems(
      sweep,
      table,
      ...record,
      ...usePrices,
      { actions: ['Query', 'BatchWriteItem'], partitions: partitions.outbox },
      { actions: ['PutItem'], partitions: partitions.refusedEvents },
    );
    grantItems(
      ownPrices,
      table,
      ...writeRecords,
      ...returnDays,
      { actions: ['GetItem'], partitions: [...partitions.blocks, ...partitions.prices] },
      // Sums of months tell late events.
      { actions: ['Query'], partitions: [...partitions.pricedAccounts, ...partitions.spend] },
    );
    grantItems(
      priceFeed,
      table,
      { actions: ['GetItem', 'PutItem'], partitions: partitions.prices },
      { actions: ['Query'], partitions: partitions.priceDrift },
    );
    grantItems(
      repricing,
      table,
      ...record,
      ...returnDays,
      { actions: ['GetItem', 'Query'], partitions: partitions.prices },
      { actions: ['GetItem', 'PutItem'], partitions: partitions.repricing },
      { actions: ['Query'], partitions: partitions.modelUse },
    );
    grantItems(
      rollup,
      table,
      { actions: ['Query'], partitions: partitions.periodsToRollUp, index: INDEX_NAME },
      { actions: ['Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem'], partitions: partitions.spend },
      // The month counter and its shards, which say which day is closed, declared dimensions, and alerts about the plan's limit that the
      // recorder missed.
      { actions: ['GetItem', 'PutItem', 'UpdateItem'], partitions: partitions.accounts },
      { actions: ['UpdateItem'], partitions: partitions.spend },
    );
  }
}
