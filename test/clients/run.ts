import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startStack } from '../../local/host/stack.ts';
import { startMockProviders } from '../../local/mock/providers.ts';
import { currentAssembly } from '../../local/synth.ts';
import { flag, readOptions } from '../../ops/command.ts';
import { onlyOption } from '../only-option.ts';
import { type Client, places, type Target } from './client.ts';
import { isCloudPath, startClouds } from './clouds.ts';
import { commandLineClients } from './command-line.ts';
import { type Comparison, compare, reportedTokens } from './compare.ts';
import { install, installPython } from './install.ts';
import { type Exchange, type Recorder, startRecorder } from './recorder.ts';
import { sdkClients } from './sdks.ts';

const USAGE = `npm run clients [-- [--only TEXT] [--markdown] [--verbose]]

Runs real clients, each directly at a mock provider and through the local stack, and checks that every byte arrives, that the usage on
record is what the provider reported, that the client is recognized, and that the sessions that it names are on record and add up. Their packages are downloaded once, into .cache/clients (3 GB). They run with an empty home
and, where the machine allows it, in a network namespace with nothing but 127.0.0.1.

  --only TEXT   runs those whose name matches this regular expression, in upper or lower case
  --markdown    prints a table in Markdown
  --verbose     also prints what the clients print, and what differs`;

const root = join(import.meta.dirname, '../..');
const cacheDir = join(root, '.cache/clients');
const CLIENT_TIMEOUT_MS = 120_000;
/** Records come through the queue. */
const RECORD_TIMEOUT_MS = 30_000;
const POLL_MS = 200;

const clientsOf = (only: RegExp) => [...commandLineClients, ...sdkClients].filter(({ name }) => only.test(name));
const schema = z
  .object({ only: onlyOption, markdown: flag, verbose: flag })
  .refine(({ only }) => clientsOf(only).length > 0, '--only matches no client');
const values = readOptions({ usage: USAGE, schema });
const chosen = clientsOf(values.only);
const packagesDirOf = ({ folder }: Client): string => join(cacheDir, folder ?? '');

/** The clients whose packages are here. Those of Python cannot be had everywhere. */
const installAll = async (): Promise<Client[]> => {
  const left = new Map<string, string>();
  for (const { name, packages, pythonPackages, folder = '' } of chosen) {
    const dir = join(cacheDir, folder);
    if (packages) await install(dir, packages);
    if (pythonPackages) await installPython(dir, pythonPackages).catch((error) => left.set(name, String(error)));
  }
  // The run without a network, below, would say it again.
  if (!process.env['CLIENTS_ISOLATED'])
    for (const [name, error] of left)
      console.error(`${name}: left out, its packages cannot be installed: ${error.trim().split('\n').at(-1)}`);
  return chosen.filter(({ name }) => !left.has(name));
};

/** Starts this command again where only 127.0.0.1 can be reached. @returns false where the machine does not allow it */
const isolate = (): boolean => {
  if (process.env['CLIENTS_ISOLATED']) return false;
  const unshare = ['--net', '--map-root-user'];
  if (spawnSync('unshare', [...unshare, 'ip', 'link', 'set', 'lo', 'up']).status !== 0) return false;
  const { status } = spawnSync(
    'unshare',
    [
      ...unshare,
      'sh',
      '-c',
      'ip link set lo up; exec "$@"',
      'sh',
      process.execPath,
      ...process.execArgv,
      ...process.argv.slice(1),
    ],
    { stdio: 'inherit', env: { ...process.env, CLIENTS_ISOLATED: '1' } },
  );
  process.exitCode = status ?? 1;
  return true;
};

/** Runs a client in an empty home. @throws Error with what it printed, when it fails */
const runClient = async (client: Client, target: Omit<Target, 'home' | 'packagesDir'>): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'client-'));
  try {
    const { command, args, env, files } = client.run({ ...target, home, packagesDir: packagesDirOf(client) });
    for (const [path, text] of Object.entries(files ?? {})) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
    }
    const child = spawn(command, args, {
      cwd: home,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
        HOME: home,
        TERM: 'dumb',
        NO_COLOR: '1',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (printed += bytes));
    const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), CLIENT_TIMEOUT_MS);
    const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject));
    clearTimeout(timer);
    if (code !== 0) throw new Error(`it exited with ${code}:\n${printed.slice(-3_000)}`);
    return printed;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

interface World {
  readonly provider: Recorder;
  readonly front: Recorder;
  readonly serviceKey: string;
  readonly read: (path: string) => Promise<Response>;
}

interface RequestOnRecord {
  readonly requestId: string;
  readonly outcome: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costNanoUsd: number | null;
  readonly client: string | null;
  readonly session: { readonly id: string; readonly agentId?: string } | null;
}

/** The record of a request, once its end is on it. */
const recordOf = async (requestId: string, { read }: World): Promise<RequestOnRecord | undefined> => {
  const deadline = Date.now() + RECORD_TIMEOUT_MS;
  for (;;) {
    const response = await read(`/requests/${requestId}`);
    const record = response.ok ? ((await response.json()) as RequestOnRecord) : undefined;
    if (record && record.outcome !== 'unknown') return record;
    if (Date.now() > deadline) return undefined;
    await sleep(POLL_MS);
  }
};

type Forwarded = Comparison['forwarded'][number] & { readonly record: RequestOnRecord | undefined };

/** What differs between the usage on record and what the provider reported. */
const usageDifferences = (forwarded: readonly Forwarded[]): string[] =>
  forwarded.flatMap(({ provider, record }) => {
    const at = `${provider.method} ${provider.path}`;
    if (!record) return [`${at}: no record`];
    const reported = reportedTokens(provider);
    // A response without usage is estimated, and says so.
    if (reported.input === null) return [];
    return record.inputTokens === reported.input && record.outputTokens === reported.output
      ? []
      : [
          `${at}: ${record.inputTokens} and ${record.outputTokens} tokens on record, ${reported.input} and ${reported.output} reported`,
        ];
  });

/** The values of the headers in which a client names sessions and agents, or threads. */
const sentIds = ({ client }: Forwarded): string[] =>
  client.requestHeaders.flatMap((name, i) =>
    i % 2 === 0 && /(session|thread|agent).*id$|^session-affinity$/i.test(name)
      ? (client.requestHeaders[i + 1] ?? [])
      : [],
  );

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

/**
 * Whether the sessions that the client named are on record, and add up: each agent to its requests, and the agents to the session.
 * Null where the client names none.
 */
const sessionProblems = async (forwarded: readonly Forwarded[], { read }: World): Promise<string[] | null> => {
  const named = forwarded.filter((each) => sentIds(each).length > 0);
  if (named.length === 0) return null;
  const problems = named.flatMap((each) => {
    const { session = null } = each.record ?? {};
    const ids = session ? [session.id, session.agentId ?? session.id] : [];
    return ids.length > 0 && ids.every((id) => sentIds(each).includes(id))
      ? []
      : [`${each.provider.path}: session ${JSON.stringify(session)} on record, sent ${sentIds(each).join(', ')}`];
  });
  const records = named.flatMap(({ record }) => record ?? []);
  for (const [id, some] of Map.groupBy(records, ({ session }) => session?.id ?? '')) {
    const session = (await (await read(`/sessions/${encodeURIComponent(id)}`)).json()) as SessionOnRecord;
    const ofRecords = some.map(({ requestId }) => requestId).sort();
    const ofTree = session.agents.flatMap(({ items }) => items.map(({ requestId }) => requestId)).sort();
    if (JSON.stringify(ofTree) !== JSON.stringify(ofRecords)) problems.push(`session ${id} has other requests`);
    const costs = [
      session.costNanoUsd,
      sumOf(session.agents.map(({ costNanoUsd }) => costNanoUsd)),
      sumOf(session.agents.flatMap(({ items }) => items.map(({ costNanoUsd }) => costNanoUsd))),
      sumOf(some.map(({ costNanoUsd }) => costNanoUsd)),
    ];
    if (new Set(costs).size > 1) problems.push(`session ${id} costs ${costs.join(', ')} nano-USD`);
  }
  return problems;
};

interface SessionOnRecord {
  readonly costNanoUsd: number | null;
  readonly agents: readonly { readonly costNanoUsd: number | null; readonly items: readonly RequestOnRecord[] }[];
}

const callsOf = (exchanges: readonly Exchange[]): string =>
  [...new Set(exchanges.map(({ method, path }) => `${method} ${path}`))].sort().join(', ');

interface Row {
  readonly client: Client;
  readonly calls: string;
  readonly requests: number;
  readonly refused: number;
  readonly bytesEqual: boolean;
  readonly usageExact: boolean;
  /** How many agents the sessions on record have, the main agent included; null where the client names no session. */
  readonly agents: number | null;
  readonly sessionsExact: boolean;
  readonly isRecognized: boolean;
  /** As the gateway recognizes it. */
  readonly recognized: string;
  readonly problems: readonly string[];
}

const tryClient = async (client: Client, world: World): Promise<Row> => {
  const { provider, front, serviceKey } = world;
  provider.exchanges.length = 0;
  const direct = () => provider.url;
  await runClient(client, { base: direct, keyedBase: direct, serviceKey });
  const directCalls = callsOf(provider.exchanges);
  provider.exchanges.length = 0;
  front.exchanges.length = 0;
  const printed = await runClient(client, {
    base: (label) => `${front.url}/gateway/${label}${places[label] ?? ''}`,
    keyedBase: (label) => `${front.url}/gateway/${label}/${serviceKey}`,
    serviceKey,
  });
  if (values.verbose) console.log(printed);
  const comparison = compare(front.exchanges, provider.exchanges, serviceKey);
  const forwarded = await Promise.all(
    comparison.forwarded.map(async (each) => ({
      ...each,
      record: await recordOf(String(each.client.responseHeaders['x-service-request-id']), world),
    })),
  );
  const usage = usageDifferences(forwarded);
  const sessions = await sessionProblems(forwarded, world);
  const agents = new Set(forwarded.map(({ record }) => `${record?.session?.id} ${record?.session?.agentId}`));
  const isRecognized = client.isRecognizable === false || forwarded.every(({ record }) => record?.client);
  const calls = callsOf(comparison.forwarded.map((each) => each.provider));
  return {
    client,
    calls,
    requests: comparison.forwarded.length,
    refused: comparison.refused.length,
    bytesEqual: comparison.differences.length === 0 && comparison.forwarded.length > 0,
    usageExact: usage.length === 0 && comparison.forwarded.length > 0,
    agents: sessions && agents.size,
    sessionsExact: !sessions || sessions.length === 0,
    isRecognized,
    recognized: [...new Set(forwarded.map(({ record }) => record?.client ?? '–'))].join(', '),
    problems: [
      ...comparison.differences,
      ...usage,
      ...(sessions ?? []),
      ...(isRecognized ? [] : ['it is not recognized: lambda/gateway/relay/clients.ts lacks it']),
      ...comparison.refused.map(
        ({ method, path, status }) => `${method} ${path.replace(serviceKey, 'svc_…')}: ${status} from the gateway`,
      ),
      ...(directCalls === calls ? [] : [`called directly: ${directCalls}`]),
    ],
  };
};

const versionOf = ({ name, packages, pythonPackages }: Client): string =>
  pythonPackages?.[name.replace('Python ', '')] ??
  packages?.[name] ??
  (Object.keys(packages ?? {}).length === 1 ? (Object.values(packages ?? {})[0] as string) : '');

const print = (rows: readonly (Row | { client: Client; error: string })[]): void => {
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  const session = ({ agents, sessionsExact }: Row): string => {
    if (agents === null) return 'sends none';
    return yes(sessionsExact) + (agents > 1 ? `, ${agents} agents` : '');
  };
  const table = rows.map((row) =>
    'error' in row
      ? [row.client.name, row.client.attaches, '', 'failed', '', '', '']
      : [
          ...[row.client.name, row.client.attaches, String(row.requests), yes(row.bytesEqual), yes(row.usageExact)],
          ...[session(row), row.recognized],
        ],
  );
  const head = ['client', 'key in', 'requests', 'bytes equal', 'usage exact', 'session seen', 'recognized as'];
  if (values.markdown) {
    for (const line of [head, head.map(() => '---'), ...table]) console.log(`| ${line.join(' | ')} |`);
    return;
  }
  const widths = head.map((_, column) => Math.max(...[head, ...table].map((line) => line[column]!.length)));
  for (const line of [head, ...table]) console.log(line.map((text, column) => text.padEnd(widths[column]!)).join('  '));
};

const main = async (): Promise<void> => {
  const assembly = await currentAssembly(root, () => {});
  const clients = await installAll();
  if (isolate()) return;
  if (!process.env['CLIENTS_ISOLATED']) console.error('No network namespace here: clients can reach the internet.');
  const dataDir = await mkdtemp(join(tmpdir(), 'clients-'));
  const mock = await startMockProviders();
  const clouds = await startClouds();
  const provider = await startRecorder((path) => (isCloudPath(path) ? clouds.url : mock.url));
  const origins = Object.fromEntries(
    Object.keys(JSON.parse(mock.environment.UPSTREAM_ORIGINS)).map((label) => [label, provider.url]),
  );
  const stack = await startStack({
    assembly,
    dataDir,
    port: 0,
    environment: {
      ...mock.environment,
      UPSTREAM_ORIGINS: JSON.stringify(origins),
      OPEN_EVENT_DELAY_SECONDS: '60',
    },
  });
  const front = await startRecorder(() => stack.url);
  try {
    const registration = await fetch(`${stack.url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ email: 'clients@example.com', password: 'correct horse battery 1' },
        ...{ firstName: 'Ada', lastName: 'Lovelace' },
      }),
    });
    const { accountId, token } = (await registration.json()) as { accountId: string; token: string };
    const world: World = {
      provider,
      front,
      serviceKey: accountId,
      read: (path) => fetch(`${stack.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } }),
    };
    const rows: (Row | { client: Client; error: string })[] = [];
    for (const client of clients) {
      try {
        const row = await tryClient(client, world);
        rows.push(row);
        console.error(`${client.name} ${versionOf(client)}: ${row.calls}`);
        for (const problem of row.problems) console.error(`  ${problem}`);
      } catch (error) {
        rows.push({ client, error: String(error) });
        console.error(
          `${client.name}: ${values.verbose ? error : String(error).split('\n').slice(0, 12).join('\n  ')}`,
        );
      }
    }
    print(rows);
    if (
      rows.some(
        (row) => 'error' in row || !row.bytesEqual || !row.usageExact || !row.sessionsExact || !row.isRecognized,
      )
    )
      process.exitCode = 1;
  } finally {
    await front.stop();
    await stack.stop();
    await provider.stop();
    await mock.stop();
    await clouds.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

await main();
