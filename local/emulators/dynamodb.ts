import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import getPort from 'get-port';
import { SetupError } from '../setup-error.ts';
import { type Emulator, type EmulatorOptions, startWorker } from './worker.ts';

const STOP_GRACE_MS = 3_000;

/**
 * The child's guardian: it reads its standard input, which only this process holds open, and ends the child when that
 * closes, as it does even when this process is killed with -9.
 */
const GUARD =
  'exec 3<&0; "$0" "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill "$child" 2>/dev/null) & wait "$child"';

/** Starts a program that dies with this process. POSIX only (it needs `sh`). */
const startProcess = (command: string, args: readonly string[], logFile?: string) => {
  const child = spawn('sh', ['-c', GUARD, command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group: Ctrl-C in the terminal must not end the emulator before the stack has drained.
    detached: true,
  });
  let ended = false;
  let words = '';
  const log = logFile ? createWriteStream(logFile, { flags: 'a' }) : undefined;
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString('utf8')).slice(-500);
      log?.write(chunk);
    });
  }
  // The guardian may be gone before its input closes.
  child.stdin.on('error', () => {});
  const lastLine = () => words.trim().split('\n').at(-1) ?? '';
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      if (!stopping) console.error(`${basename(command)} has ended by itself: ${lastLine() || 'it said nothing'}.`);
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
    // Later than its end: only then has all it printed been read.
    child.once('close', () => log?.end());
  });
  return {
    ended: () => ended,
    /** Whether the text is in what it printed last. */
    hasSaid: (text: string) => words.includes(text),
    /** For an error message. */
    lastLine,
    async stop(): Promise<void> {
      stopping = true;
      child.stdin.end();
      const grace = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await exited;
      clearTimeout(grace);
    },
    /** Ends it at once, as kill -9 does. */
    async kill(): Promise<void> {
      stopping = true;
      // The whole group: the program, its guardian, their shell.
      if (!ended && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
};

const READY_TIMEOUT_MS = 10_000;

/** The emulator's program. @throws SetupError on a platform without it */
export const dynamoDbProgram = (): string => {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch {
    throw new SetupError(
      `No DynamoDB emulator for ${process.platform}-${process.arch} (the package ${name} is not installed): start DynamoDB Local yourself and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
    );
  }
};

type FreePort = (options: { readonly host: string }) => Promise<number>;

/**
 * A loopback address that nobody finds by trying ports: Linux has 16 million of them. Elsewhere there is one, and only the port is unknown.
 */
const hiddenHost = (): string =>
  process.platform === 'linux' ? `127.${Array.from({ length: 3 }, () => randomInt(1, 255)).join('.')}` : '127.0.0.1';

/** Another process may take a port between its choice and its use. */
const MAX_STARTS = 5;

/** Starts the program, and returns it once it listens. @throws SetupError where it does not */
const startAt = async (
  host: string,
  { storage, logFile, freePort }: { storage: readonly string[]; logFile?: string | undefined; freePort: FreePort },
  starts = 1,
): Promise<{ readonly child: ReturnType<typeof startProcess>; readonly port: number; readonly endpoint: string }> => {
  const port = await freePort({ host });
  const child = startProcess(dynamoDbProgram(), ['serve', '--host', host, '--port', String(port), ...storage], logFile);
  const endpoint = `http://${host}:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!child.ended() && Date.now() < deadline) {
    // A response would not tell whether it is this program's.
    if (child.hasSaid('listening on')) return { child, port, endpoint };
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const hasEnded = child.ended();
  await child.stop();
  if (hasEnded && starts < MAX_STARTS) return startAt(host, { storage, logFile, freePort }, starts + 1);
  throw new SetupError(`The DynamoDB emulator did not start${child.lastLine() ? `: ${child.lastLine()}` : '.'}`);
};

/**
 * DynamoDB by dynoxide, a static binary with SQLite inside. With DYNAMODB_ENDPOINT set, that server is used and nothing is started.
 *
 * @param options.secretAccessKey requests must be signed with it; without it, as in tests, any request is served
 * @param options.dataDir takes the data as one file, which stays intact after kill -9; without it, data is in memory
 * @throws SetupError on a platform without the binary
 */
export const startDynamoDb = async (
  options: EmulatorOptions & { readonly freePort?: FreePort } = {},
): Promise<Emulator & { readonly kill: () => Promise<void> }> => {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) {
    const leave = async (): Promise<void> => {};
    return { endpoint: given, port: Number(new URL(given).port), stop: leave, kill: leave };
  }
  const { dataDir, logFile, secretAccessKey, freePort = getPort } = options;
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const storage = dataDir === undefined ? [] : ['--db-path', join(dataDir, 'dynamodb.sqlite')];
  const host = secretAccessKey === undefined ? '127.0.0.1' : hiddenHost();
  const { child, port, endpoint } = await startAt(host, { storage, logFile, freePort });
  if (secretAccessKey === undefined) return { endpoint, port, stop: child.stop, kill: child.kill };
  const data = { target: endpoint, secretAccessKey };
  const front = await startWorker(new URL('./dynamodb-worker.ts', import.meta.url), { data, logFile });
  const both = (end: () => Promise<void>) => async () => {
    await Promise.all([front.stop(), end()]);
  };
  return { ...front, stop: both(child.stop), kill: both(child.kill) };
};
