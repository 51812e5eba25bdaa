import { randomUUID } from 'node:crypto';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { type ExecutionEnvironment, InvocationError, startEnvironment, type TakeChunk } from './environment.ts';
import type { LambdaFunction } from './functions.ts';
import { type FunctionLog, functionLog } from './log.ts';

/** A function's variables, those Lambda itself sets, and those that lead every AWS client to the emulators. */
export const runtimeEnvironment = (
  lambda: LambdaFunction,
  endpoints: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...lambda.environment,
  AWS_REGION: LOCAL_REGION,
  AWS_DEFAULT_REGION: LOCAL_REGION,
  // Says in an emulator's log which function asked: emulators check the secret alone.
  AWS_ACCESS_KEY_ID: lambda.name,
  AWS_LAMBDA_FUNCTION_NAME: lambda.name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(lambda.memoryMb),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${lambda.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: 'local',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  LAMBDA_TASK_ROOT: '/var/task',
  TZ: ':UTC',
  ...endpoints,
});

const MAX_ENVIRONMENTS = 4;

interface Fleet {
  readonly log: FunctionLog;
  readonly idle: ExecutionEnvironment[];
  readonly waiting: ((environment: ExecutionEnvironment | undefined) => void)[];
  running: number;
}

/**
 * Runs functions as Lambda would: one invocation at a time per environment, more environments on demand, up to a few.
 *
 * @param options.endpoints `endpointVariables`
 * @param options.logFolder gets one file per function
 */
export const createInvoker = (options: {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly logFolder: string;
}) => {
  const fleets = new Map<string, Fleet>();
  const invocations = new Set<Promise<unknown>>();

  const fleetOf = (lambda: LambdaFunction): Fleet => {
    const known = fleets.get(lambda.name);
    if (known) return known;
    const fleet: Fleet = { log: functionLog(options.logFolder, lambda.label), idle: [], waiting: [], running: 0 };
    fleets.set(lambda.name, fleet);
    return fleet;
  };

  const acquire = async (lambda: LambdaFunction, fleet: Fleet): Promise<ExecutionEnvironment> => {
    for (let idle = fleet.idle.pop(); idle; idle = fleet.idle.pop()) {
      if (!idle.ended) return idle;
      fleet.running -= 1;
    }
    if (fleet.running >= MAX_ENVIRONMENTS) {
      const handed = await new Promise<ExecutionEnvironment | undefined>((resolve) => fleet.waiting.push(resolve));
      return handed ?? acquire(lambda, fleet);
    }
    fleet.running += 1;
    return startEnvironment(lambda, runtimeEnvironment(lambda, options.endpoints), fleet.log);
  };

  const release = (fleet: Fleet, environment: ExecutionEnvironment): void => {
    if (environment.ended) fleet.running -= 1;
    const next = fleet.waiting.shift();
    if (next) next(environment.ended ? undefined : environment);
    else if (!environment.ended) fleet.idle.push(environment);
  };

  const run = async (lambda: LambdaFunction, event: unknown, takeChunk?: TakeChunk): Promise<unknown> => {
    const fleet = fleetOf(lambda);
    const environment = await acquire(lambda, fleet);
    try {
      return await environment.invoke(
        {
          event,
          context: {
            functionName: lambda.name,
            functionVersion: '$LATEST',
            invokedFunctionArn: lambda.arn,
            memoryLimitInMB: String(lambda.memoryMb),
            awsRequestId: randomUUID(),
            logGroupName: `/aws/lambda/${lambda.name}`,
            logStreamName: 'local',
          },
        },
        takeChunk,
      );
    } catch (error) {
      const type = error instanceof InvocationError ? error.errorType : 'Error';
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      fleet.log.error(`${type}: ${message}`, stack);
      throw error;
    } finally {
      release(fleet, environment);
    }
  };

  return {
    /**
     * @param takeChunk gets the response of a function that streams; the result is null then
     * @throws InvocationError, after it has been logged
     */
    invoke(lambda: LambdaFunction, event: unknown, takeChunk?: TakeChunk): Promise<unknown> {
      const invocation = run(lambda, event, takeChunk).finally(() => invocations.delete(invocation));
      invocations.add(invocation);
      return invocation;
    },
    /** Waits for what is running, then ends all environments. */
    async stop(): Promise<void> {
      await Promise.allSettled(invocations);
      await Promise.all(
        [...fleets.values()].map(async ({ idle, log }) => {
          await Promise.all(idle.map((environment) => environment.stop()));
          await log.close();
        }),
      );
    },
  };
};

export type Invoker = ReturnType<typeof createInvoker>;
