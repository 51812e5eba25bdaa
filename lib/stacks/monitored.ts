import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { HouseApi } from '../constructs/house-api.ts';
import type { ScheduledFunction } from '../constructs/scheduled-function.ts';
import type { ContainerProxy } from './container-proxy.ts';
import type { StageMetrics } from './metrics.ts';
import type { ProviderProxy } from './provider-proxy.ts';

/** The resources that the operations dashboard shows. */
export interface Monitored {
  readonly metrics: StageMetrics;
  readonly table: ITable;
  readonly usage: {
    readonly queue: Queue;
    readonly deadLetterQueue: Queue;
    readonly recorder: LambdaFunction;
  };
  readonly gateway: {
    readonly proxies: readonly ProviderProxy[];
    readonly containerProxies: readonly ContainerProxy[];
  };
  readonly scheduled: readonly ScheduledFunction[];
  readonly dashboard: { readonly api: HouseApi; readonly handlers: readonly LambdaFunction[] };
}
