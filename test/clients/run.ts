import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startStack } from '../../local/host/stack.ts';
import { startMockProviders } from '../../local/mock/providers.ts';
import { currentAssembly } from '../../local/synth.ts';
import type { Client, Target } from './client.ts';
import { commandLineClients } from './command-line.ts';
import { type Comparison, compare, reportedTokens } from './compare.ts';
import { install } from './install.ts';
import { type Exchange, type Recorder, startRecorder } from './recorder.ts';
import { sdkClients } from './sdks.ts';

const USAGE = `npm run clients [-- [--only TEXT] [--markdown] [--verbose]]

Real clients, each directly at a mock provider and through the local stack: whether every byte arrives, and whether the usage on
record is what the provider reported. Their packages are downloaded once, into .cache/clients (3 GB). They run with an empty home
and, where the machine allows it, in a network namespace with nothing but 127.0.0.1.

  --only TEXT   those whose name matches this regular expression, case aside
  --markdown    the table of docs/clients.md
  --verbose     what the clients print, and what differs`;

const root = join(import.meta.dirname, '../..');
const cacheDir = join(root, '.cache/clients');
const CLIENT_TIMEOUT_MS = 120_000;
/** Records come through the queue. */
const RECORD_TIMEOUT_MS = 30_000;
const POLL_MS = 200;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    markdown: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const clients = [...commandLineClients, ...sdkClients].filter(({ name }) => new RegExp(values.only, 'i').test(name));
const packagesDirOf = ({ folder }: Client): string => join(cacheDir, folder ?? '');

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

/** What differs between the usage on record and what the provider reported. */
const usageDifferences = async ({ forwarded }: Comparison, { read }: World): Promise<string[]> => {
  const differences: string[] = [];
  for (const { client, provider } of forwarded) {
    const reported = reportedTokens(provider);
    const deadline = Date.now() + RECORD_TIMEOUT_MS;
    for (;;) {
      const response = await read(`/requests/${client.responseHeaders['x-service-request-id']}`);
      const record = response.ok
        ? ((await response.json()) as { outcome: string; inputTokens: number | null; outputTokens: number | null })
        : undefined;
      if (record && record.outcome !== 'unknown') {
        // A response without usage is estimated, and says so.
        if (
          reported.input !== null &&
          (record.inputTokens !== reported.input || record.outputTokens !== reported.output)
        )
          differences.push(
            `${provider.method} ${provider.path}: ${record.inputTokens} and ${record.outputTokens} tokens on record, ${reported.input} and ${reported.output} reported`,
          );
        break;
      }
      if (Date.now() > deadline) {
        differences.push(`${provider.method} ${provider.path}: no record`);
        break;
      }
      await sleep(POLL_MS);
    }
  }
  return differences;
};

const callsOf = (exchanges: readonly Exchange[]): string =>
  [...new Set(exchanges.map(({ method, path }) => `${method} ${path}`))].sort().join(', ');

interface Row {
  readonly client: Client;
  readonly calls: string;
  readonly requests: number;
  readonly refused: number;
  readonly bytesEqual: boolean;
  readonly usageExact: boolean;
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
    base: (label) => `${front.url}/gateway/${label}`,
    keyedBase: (label) => `${front.url}/gateway/${label}/${serviceKey}`,
    serviceKey,
  });
  if (values.verbose) console.log(printed);
  const comparison = compare(front.exchanges, provider.exchanges, serviceKey);
  const usage = await usageDifferences(comparison, world);
  const calls = callsOf(comparison.forwarded.map((each) => each.provider));
  return {
    client,
    calls,
    requests: comparison.forwarded.length,
    refused: comparison.refused.length,
    bytesEqual: comparison.differences.length === 0 && comparison.forwarded.length > 0,
    usageExact: usage.length === 0 && comparison.forwarded.length > 0,
    problems: [
      ...comparison.differences,
      ...usage,
      ...comparison.refused.map(
        ({ method, path, status }) => `${method} ${path.replace(serviceKey, 'svc_…')}: ${status} from the gateway`,
      ),
      ...(directCalls === calls ? [] : [`called directly: ${directCalls}`]),
    ],
  };
};

const versionOf = ({ name, packages }: Client): string =>
  packages?.[name] ?? (Object.keys(packages ?? {}).length === 1 ? (Object.values(packages ?? {})[0] as string) : '');

const print = (rows: readonly (Row | { client: Client; error: string })[]): void => {
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  const table = rows.map((row) =>
    'error' in row
      ? [row.client.name, row.client.attaches, '', 'failed', '']
      : [row.client.name, row.client.attaches, String(row.requests), yes(row.bytesEqual), yes(row.usageExact)],
  );
  const head = ['client', 'key in', 'requests', 'bytes equal', 'usage exact'];
  if (values.markdown) {
    for (const line of [head, head.map(() => '---'), ...table]) console.log(`| ${line.join(' | ')} |`);
    return;
  }
  const widths = head.map((_, column) => Math.max(...[head, ...table].map((line) => line[column]!.length)));
  for (const line of [head, ...table]) console.log(line.map((text, column) => text.padEnd(widths[column]!)).join('  '));
};

const main = async (): Promise<void> => {
  const assembly = await currentAssembly(root, () => {});
  for (const client of clients) if (client.packages) await install(packagesDirOf(client), client.packages);
  if (isolate()) return;
  if (!process.env['CLIENTS_ISOLATED']) console.error('No network namespace here: clients can reach the internet.');
  const dataDir = await mkdtemp(join(tmpdir(), 'clients-'));
  const mock = await startMockProviders();
  const provider = await startRecorder(() => mock.url);
  const origins = Object.fromEntries(
    Object.keys(JSON.parse(mock.upstreamOrigins)).map((label) => [label, provider.url]),
  );
  const stack = await startStack({
    assembly,
    dataDir,
    port: 0,
    environment: { UPSTREAM_ORIGINS: JSON.stringify(origins), OPEN_EVENT_DELAY_SECONDS: '60' },
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
    if (rows.some((row) => 'error' in row || !row.bytesEqual || !row.usageExact)) process.exitCode = 1;
  } finally {
    await front.stop();
    await stack.stop();
    await provider.stop();
    await mock.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

await main();
