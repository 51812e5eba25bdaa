import { setTimeout as sleep } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { handler as record } from '../../../../lambda/usage-recorder/handler.ts';
import { handler as sweep } from '../../../../lambda/usage-recorder/sweep/handler.ts';
import { BATCH } from '../../../../lib/usage-capacity.ts';
import { pollQueue } from '../../../../local/host/sources/sqs-poller.ts';
import { servePart } from './serve-part.ts';

/** The recorder's and the sweep's functions, unchanged, and what drives them, alone in a process. */

const context = { awsRequestId: 'local', functionName: 'recorder', getRemainingTimeInMillis: () => 50_000 } as Context;
const SWEEP_PAUSE_MS = 250;

const poller = pollQueue({
  sqs: new SQSClient(),
  queueUrl: process.env['USAGE_QUEUE_URL'] ?? '',
  queueArn: 'arn:aws:sqs:eu-central-1:000000000000:usage',
  batchSize: BATCH.least,
  windowMs: Number(process.env['BATCH_WINDOW_MS']),
  concurrency: 2,
  invoke: async (event) => record(event, context, () => {}),
});

const sweeping = async (): Promise<void> => {
  for (;;) {
    await Promise.resolve(sweep({} as never, context, () => {})).catch((error: unknown) =>
      console.error(String(error)),
    );
    await sleep(SWEEP_PAUSE_MS);
  }
};
void sweeping();

servePart(0, () => poller.stop());
