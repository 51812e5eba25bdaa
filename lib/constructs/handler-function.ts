import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import * as z from 'zod/mini';
import type { Retention } from '../config.ts';
import { BUNDLE_FILE, functionBundle } from './function-bundle.ts';
import { grantActions } from './grants.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface HandlerFunctionProps {
  /** The entry file, relative to the root of the repository; it exports `handler`. */
  readonly entry: string;
  readonly description: string;
  /** Made by `variablesOf` from a schema of lambda/environment.ts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: Duration;
  /** Left out: 1,024, which have half a processor. */
  readonly memoryMb?: number;
  readonly retention: Retention;
  readonly reservedConcurrency?: number | undefined;
}

/**
 * The variables that a schema of lambda/environment.ts names.
 *
 * @param values may hold those of other schemas, too
 * @throws Error where one is missing, unless the types have it already
 */
export const variablesOf = <S extends z.ZodMiniObject>(
  { shape }: S,
  values: z.input<S>,
): Readonly<Record<string, string>> => {
  const known: Readonly<Record<string, unknown>> = values;
  const missing = Object.keys(shape).filter(
    (name) => known[name] === undefined && !z.safeParse(shape[name] as z.ZodMiniType, undefined).success,
  );
  if (missing.length > 0) throw new Error(`A function needs the variables ${missing.join(', ')}, which have no value.`);
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) =>
      name in shape && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
};

/**
 * A function with the defaults of this project: arm64, Node 24, one minified bundle with its own pinned SDK, its own log group, and a
 * role that may do nothing but write to it until a stack grants more.
 */
export class HandlerFunction extends LambdaFunction {
  /** The entry file, relative to the root of the repository. */
  readonly entry: string;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    if (!existsSync(join(ROOT, props.entry)))
      throw new Error(`${scope.node.path}/${id}: there is no entry file ${props.entry}`);
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: props.retention.logs,
      removalPolicy: props.retention.data,
    });
    // Not the managed policy AWSLambdaBasicExecutionRole, which may write to every log group of the account.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    grantActions(role, logGroup.logGroupArn, 'logs:CreateLogStream', 'logs:PutLogEvents');
    super(scope, id, {
      code: functionBundle(props.entry),
      description: props.description,
      role,
      logGroup,
      handler: `${BUNDLE_FILE.split('.')[0]}.handler`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: props.timeout,
      memorySize: props.memoryMb ?? 1_024,
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      environment: { ...props.environment },
      // Streams on the version before end, and the alias can be pointed back at it. A version takes 70 KB of the 75 GB that a region has for code. Not RETAIN:
      // a version kept from a deployment that was rolled back makes the next deployment of the same code fail.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    this.entry = props.entry;
  }
}

interface ScheduledFunctionProps extends HandlerFunctionProps {
  readonly every: Duration;
}

/** A function that runs at a fixed rate. A failed run is not repeated: the next run continues its work. */
export class ScheduledFunction extends HandlerFunction {
  readonly every: Duration;

  constructor(scope: Construct, id: string, props: ScheduledFunctionProps) {
    super(scope, id, props);
    this.every = props.every;
    // While functions of the account use all its concurrency. Lambda takes at most six hours.
    const maxEventAge = Duration.minutes(Math.min(props.every.toMinutes(), 360));
    this.configureAsyncInvoke({ retryAttempts: 0, maxEventAge });
    new Rule(this, 'Schedule', {
      description: props.description,
      schedule: Schedule.rate(props.every),
      targets: [new Target(this, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }
}
