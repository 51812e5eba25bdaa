import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Duration } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Retention } from '../config.ts';

const ROOT = join(import.meta.dirname, '../..');

/** esbuild's ESM output has no `require`; packages published as CommonJS only call it for Node's built-in modules. */
const REQUIRE_FOR_ESM = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

export interface HandlerFunctionProps {
  /** The entry file, relative to the root of the repository; it exports `handler`. */
  readonly entry: string;
  readonly description: string;
  /** Names and values are those of one interface of lambda/environment.ts: write it with `satisfies`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: Duration;
  readonly memoryMb: number;
  readonly retention: Retention;
  /** `esm` unless measured otherwise. */
  readonly format?: 'esm' | 'cjs';
  /** Readable stack traces, at the price of a slower start. Off on the hot path. */
  readonly sourceMap?: boolean;
  readonly reservedConcurrency?: number | undefined;
}

/**
 * A function as this house runs them: arm64, Node 24, one minified bundle with its own pinned SDK, its own log group, and a
 * role that may do nothing but write to it until a stack grants more.
 */
export class HandlerFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    const entry = join(ROOT, props.entry);
    if (!existsSync(entry)) throw new Error(`${scope.node.path}/${id}: there is no entry file ${props.entry}`);
    const esm = props.format !== 'cjs';
    const sourceMap = props.sourceMap ?? true;
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: props.retention.logs,
      removalPolicy: props.retention.data,
    });
    // The managed policy AWSLambdaBasicExecutionRole may write to every log group of the account: this one may not.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    super(scope, id, {
      entry,
      description: props.description,
      role,
      logGroup,
      handler: 'handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: props.timeout,
      memorySize: props.memoryMb,
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      environment: {
        ...props.environment,
        ...(sourceMap ? { NODE_OPTIONS: '--enable-source-maps' } : {}),
      },
      // The SDK v3 keeps connections alive by itself; the variable CDK would set is for v2.
      awsSdkConnectionReuse: false,
      projectRoot: ROOT,
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      bundling: {
        logLevel: LogLevel.WARNING,
        minify: true,
        keepNames: true,
        sourceMap,
        sourcesContent: false,
        // Pinned by our lock file and tree-shaken, instead of the runtime's copy that changes under us.
        bundleAwsSDK: true,
        mainFields: ['module', 'main'],
        format: esm ? OutputFormat.ESM : OutputFormat.CJS,
        ...(esm ? { banner: REQUIRE_FOR_ESM } : {}),
      },
    });
  }
}
