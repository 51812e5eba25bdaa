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

/**
 * How every function is bundled, as measured by bench/cold.ts. CommonJS: importing Node's built-in modules from ESM costs each
 * start 15 to 25 ms more. Minified, names and all. No source maps: to load them costs as much again as ESM does, so
 * `npm run stack-trace` applies them afterwards. With our own pinned and tree-shaken copy of the SDK, instead of the runtime's, which
 * changes under us.
 */
export const BUNDLING = {
  format: OutputFormat.CJS,
  minify: true,
  mainFields: ['module', 'main'],
  bundleAwsSDK: true,
} as const;

/** Says so beside the bundle: where it is loaded from inside this repository, on one machine, Node would take it for ESM. */
const markAsCommonJs = (_inputDir: string, outputDir: string): string[] => [
  `node -e "require('fs').writeFileSync(process.argv[1], JSON.stringify({ type: 'commonjs' }))" "${outputDir}/package.json"`,
];

export interface HandlerFunctionProps {
  /** The entry file, relative to the root of the repository; it exports `handler`. */
  readonly entry: string;
  readonly description: string;
  /** Names and values are those of one interface of lambda/environment.ts: write it with `satisfies`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: Duration;
  readonly memoryMb: number;
  readonly retention: Retention;
  readonly reservedConcurrency?: number | undefined;
}

/**
 * A function as this house runs them: arm64, Node 24, one minified bundle with its own pinned SDK, its own log group, and a
 * role that may do nothing but write to it until a stack grants more.
 */
export class HandlerFunction extends NodejsFunction {
  /** The entry file, relative to the root of the repository. */
  readonly entry: string;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    const entry = join(ROOT, props.entry);
    if (!existsSync(entry)) throw new Error(`${scope.node.path}/${id}: there is no entry file ${props.entry}`);
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
      environment: { ...props.environment },
      // The SDK v3 keeps connections alive by itself; the variable CDK would set is for v2.
      awsSdkConnectionReuse: false,
      projectRoot: ROOT,
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      bundling: {
        ...BUNDLING,
        mainFields: [...BUNDLING.mainFields],
        logLevel: LogLevel.WARNING,
        commandHooks: { beforeBundling: () => [], beforeInstall: () => [], afterBundling: markAsCommonJs },
      },
    });
    this.entry = props.entry;
  }
}
