import type { SQSClient } from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { functionOfArn, type LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import { type App, definitions } from '../template/definitions.ts';
import { type Poller, pollQueue } from './sqs-poller.ts';

const mappingSchema = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  Enabled: z.boolean().default(true),
  BatchSize: z.number().default(10),
  MaximumBatchingWindowInSeconds: z.number().default(0),
  FunctionResponseTypes: z.array(z.string()).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional(),
});

const queueSchema = z.object({});

/** As many batches of one queue in work at a time, at most: this is one machine. */
const MAX_CONCURRENT_BATCHES = 3;

const functionNamed = (functions: readonly LambdaFunction[], nameOrArn: string): LambdaFunction | undefined =>
  functions.find(({ name }) => name === nameOrArn) ?? functionOfArn(functions, nameOrArn);

/** Starts a poller for every event source mapping from a queue of the templates to one of the functions. */
export const startEventSourceMappings = (
  app: App,
  functions: readonly LambdaFunction[],
  invoker: Invoker,
  sqs: SQSClient,
): Poller[] => {
  const queues = definitions(app, queueSchema, 'AWS::SQS::Queue');
  return definitions(app, mappingSchema, 'AWS::Lambda::EventSourceMapping').flatMap(({ properties }) => {
    const queue = queues.find((each) => each.attribute('Arn') === properties.EventSourceArn);
    const lambda = functionNamed(functions, properties.FunctionName);
    if (!queue || !lambda || !properties.Enabled) return [];
    return [
      pollQueue({
        sqs,
        queueUrl: queue.ref,
        queueArn: properties.EventSourceArn,
        batchSize: properties.BatchSize,
        windowMs: properties.MaximumBatchingWindowInSeconds * 1000,
        reportsItemFailures: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
        concurrency: Math.min(
          properties.ScalingConfig?.MaximumConcurrency ?? MAX_CONCURRENT_BATCHES,
          MAX_CONCURRENT_BATCHES,
        ),
        invoke: (event) => invoker.invoke(lambda, event),
      }),
    ];
  });
};
