import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { openTable } from '../../lambda/data/table/table.ts';
import { createGatewayServer } from '../../lambda/gateway/hosts/gateway-server.ts';
import { writeFileAtomically } from '../emulators/atomic-file.ts';
import { LOCAL_REGION } from '../emulators/cognito.ts';
import { openStripe, type StripeOfStack } from '../stripe/for-stack.ts';
import { type DataFolder, openDataFolder, requireOwnLayout } from './data-folder.ts';
import { type Front, openFront } from './front.ts';
import { type StackIndex, serveIndex } from './index-page.ts';
import { type LambdaFunction, lambdaFunctions } from './lambda/functions.ts';
import { createInvoker, runtimeEnvironment } from './lambda/invoker.ts';
import { createBuckets, createQueues, createSecrets, createTables } from './resources/create-resources.ts';
import { userPoolSeeds } from './resources/user-pools.ts';
import { restApiServer } from './rest-api/server.ts';
import { runSchedules, scheduledFunctions, startSchedules } from './sources/schedules.ts';
import { startEventSourceMappings } from './sources/sqs-poller.ts';
import { endpointVariables, type RunningEmulators, startEmulators } from './start-emulators.ts';
import { readAssembly, type Stack } from './template/assembly.ts';
import { createResolver } from './template/intrinsics.ts';
import { webPages } from './web-pages.ts';

/** The variables that commands of docs/runbook.md read, in addition to the endpoints of the emulators. */
const NAMES = [
  'TABLE_NAME',
  'USAGE_QUEUE_URL',
  'USER_POOL_ID',
  'OBJECT_BUCKET',
  'DATA_DIR',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
];

/**
 * Writes a file that a shell reads with `.`, after which those commands work on this stack. It has the secret that the emulators
 * ask for, so only this user may read it.
 *
 * @param environment of functions that know table, queue, user pool and bucket
 */
const writeCommandsFile = (file: string, environment: Readonly<Record<string, string>>): void => {
  const needed = Object.entries(environment).filter(
    ([name]) => NAMES.includes(name) || name.startsWith('AWS_ENDPOINT_URL'),
  );
  const lines = needed.map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
  writeFileAtomically(file, lines.join(''), 0o600);
};

export interface StackOptions {
  /** Folder of the synthesized templates. */
  readonly assembly: string;
  readonly dataDir: string;
  /** 0 for a free one. */
  readonly port: number;
  /** Values instead of the templates', for whichever functions have the variables, e.g. OPEN_EVENT_DELAY_SECONDS. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Schedules run at this interval instead of their own. */
  readonly scheduleEveryMs?: number;
  /** The built web dashboard, served at `/`. */
  readonly webFolder?: string;
  /** The web dashboard says that any provider credential will do. */
  readonly mockProviders?: boolean;
  /** Gives the endpoint at which an emulator is called instead of its own: tests record calls there. */
  readonly inFrontOf?: (endpoint: string) => Promise<string>;
}

const GRACE_MS = 5_000;

const withOverrides =
  (overrides: Readonly<Record<string, string>>) =>
  (lambda: LambdaFunction): LambdaFunction => ({
    ...lambda,
    environment: Object.fromEntries(
      Object.entries(lambda.environment).map(([name, value]) => [name, overrides[name] ?? value]),
    ),
  });

/** The gateway is the function whose environment has its domain. It runs as a Node server here: nothing local can stream as API Gateway does. */
const gatewayFunction = (functions: readonly LambdaFunction[]): LambdaFunction => {
  const gateway = functions.find(({ environment }) => 'GATEWAY_DOMAIN' in environment);
  if (!gateway) throw new Error('The templates have no gateway function (none with GATEWAY_DOMAIN).');
  return gateway;
};

const pagesOrIndex = ({ webFolder, mockProviders = false }: StackOptions, index: StackIndex) => {
  const settings = { apiUrl: '/api', gatewayUrl: `${index.url}/gateway/{provider}`, mockProviders };
  return webFolder === undefined ? serveIndex(index) : webPages({ folder: webFolder, settings }, serveIndex(index));
};

const urlOf = ({ port }: Front): string => `http://localhost:${port}`;

const run = async (
  options: StackOptions,
  stacks: readonly Stack[],
  data: DataFolder,
  front: Front,
  emulators: RunningEmulators,
  stripe: StripeOfStack,
) => {
  const app = { stacks, resolve: createResolver(stacks, emulators.sqs.endpoint) };
  const credentials = { accessKeyId: 'local', secretAccessKey: emulators.secretAccessKey };
  const client = { region: LOCAL_REGION, credentials };
  const sqs = new SQSClient({ ...client, endpoint: emulators.sqs.endpoint });
  const dynamo = new DynamoDBClient({ ...client, endpoint: emulators.dynamoDb.endpoint });
  await Promise.all([
    createTables(app, dynamo),
    createQueues(app, sqs),
    createBuckets(app, { ...client, endpoint: emulators.sqs.endpoint }),
  ]);
  createSecrets(app, emulators.secrets);

  const url = urlOf(front);
  const functions = lambdaFunctions(app).map(
    withOverrides({
      DASHBOARD_URL: url,
      REGISTRATION: 'open',
      ...stripe.environment,
      ...options.environment,
      GATEWAY_DOMAIN: 'localhost',
    }),
  );
  const endpoints = endpointVariables(emulators);
  const invoker = createInvoker({ endpoints, logFolder: data.logs });
  const readJwks = async (userPoolId: string) =>
    (await (await fetch(`${emulators.cognito.endpoint}/${userPoolId}/.well-known/jwks.json`)).json()) as Jwks;
  const gatewayLambda = gatewayFunction(functions);
  const gatewayEnvironment = runtimeEnvironment(gatewayLambda, endpoints);
  // With credentials of its own: an emulator's log says of each call whether a function made it or the stack.
  const table = openTable(gatewayEnvironment['TABLE_NAME'] ?? '', { ...client, endpoint: emulators.dynamoDb.endpoint });
  await requireOwnLayout(data.path, table);
  const others = functions.filter((lambda) => lambda !== gatewayLambda);
  const dashboard = await restApiServer(app, others, invoker, readJwks);
  const gateway = createGatewayServer(gatewayEnvironment);
  const commandsFile = join(data.path, 'commands.env');
  const jobsEnvironment = functions.find(
    ({ environment }) => 'USER_POOL_ID' in environment && 'OBJECT_BUCKET' in environment,
  )?.environment;
  writeCommandsFile(commandsFile, { ...jobsEnvironment, ...gatewayEnvironment, DATA_DIR: data.path });
  const scheduled = scheduledFunctions(app, functions);
  const sources = [
    ...startEventSourceMappings(app, functions, invoker, sqs),
    startSchedules(scheduled, invoker, options.scheduleEveryMs),
  ];

  const index: StackIndex = {
    url,
    mailUrl: emulators.ses.endpoint,
    stripeUrl: stripe.url,
    dataDir: data.path,
    logsDir: data.logs,
    commandsFile,
  };
  front.open({
    gateway: gateway.handle,
    upgrade: gateway.upgrade,
    dashboard: (request, response) => void dashboard(request, response),
    index: pagesOrIndex(options, index),
  });
  return {
    ...index,
    port: front.port,
    /** The one table, for what fills it with data. */
    table,
    /** Mail sent so far. */
    inbox: emulators.ses.inbox,
    /** Runs the scheduled functions with these labels, or all, once, now: for tests, which need not wait for their time. */
    runSchedules: (labels?: readonly string[]) =>
      runSchedules(
        scheduled.filter(({ lambda }) => labels?.includes(lambda.label) ?? true),
        invoker,
      ),
    /** Invokes a function, such as `Feedback`, as the source would that this machine has not: SES by SNS. */
    async invoke(label: string, event: unknown): Promise<unknown> {
      const lambda = functions.find((each) => each.label === label);
      if (!lambda) throw new Error(`There is no function ${label}.`);
      return invoker.invoke(lambda, event);
    },
    /** Lets what is in flight finish, within a grace, and stops everything. */
    async stop(): Promise<void> {
      await front.close(GRACE_MS);
      // Events of the last requests first, then whatever works on them, then what holds them.
      await gateway.close();
      await Promise.all(sources.map((source) => source.stop()));
      await invoker.stop();
      sqs.destroy();
      dynamo.destroy();
    },
  };
};

/**
 * Runs the synthesized app on this machine.
 *
 * @throws SetupError: one sentence that says what to do
 */
export const startStack = async (options: StackOptions) => {
  const data = openDataFolder(options.dataDir);
  const undo: (() => unknown)[] = [data.release];
  const undoAll = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const front = await openFront(options.port);
    undo.push(() => front.close(0));
    const stacks = readAssembly(options.assembly);
    const seeds = userPoolSeeds({ stacks, resolve: createResolver(stacks, '') });
    const emulators = await startEmulators(data, seeds, options.inFrontOf ?? (async (endpoint) => endpoint));
    undo.push(emulators.stop);
    const stripe = await openStripe({ dataDir: data.path, secrets: emulators.secrets, stackUrl: urlOf(front) });
    undo.push(stripe.stop);
    const running = await run(options, stacks, data, front, emulators, stripe);
    undo.push(running.stop);
    return { ...running, stop: undoAll };
  } catch (error) {
    await undoAll();
    throw error;
  }
};

export type LocalStack = Awaited<ReturnType<typeof startStack>>;
