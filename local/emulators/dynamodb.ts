import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import getPort from 'get-port';
import { SetupError } from '../setup-error.ts';
import type { Emulator } from './emulator.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { startWorker } from './worker.ts';

/** No DynamoDB emulator can run on this machine. The message says what to do. */
class MissingEmulatorError extends SetupError {
  override readonly name = 'MissingEmulatorError';
}

const READY_TIMEOUT_MS = 10_000;

/** The emulator's program. @throws MissingEmulatorError on a platform without it */
export const dynamoDbProgram = (): string => {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch {
    throw new MissingEmulatorError(
      `No DynamoDB emulator for ${process.platform}-${process.arch} (the package ${name} is not installed): start DynamoDB Local yourself and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
    );
  }
};

const isReady = async (endpoint: string): Promise<boolean> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(500) });
    return true;
  } catch {
    return false;
  }
};

/**
 * A loopback address that nobody finds by trying ports: Linux has 16 million of them. Elsewhere there is one, and only the port is unknown.
 */
const hiddenHost = (): string =>
  process.platform === 'linux' ? `127.${Array.from({ length: 3 }, () => randomInt(1, 255)).join('.')}` : '127.0.0.1';

/**
 * DynamoDB by dynoxide, a static binary with SQLite inside. With DYNAMODB_ENDPOINT set, that server is used and nothing is started.
 *
 * @param options.secretAccessKey requests must be signed with it; without it, as in tests, any request is served
 * @param options.dataDir takes the data as one file, which stays intact after kill -9; without it, data is in memory
 * @throws MissingEmulatorError on a platform without the binary
 */
export const startDynamoDb = async (
  options: { readonly dataDir?: string; readonly logFile?: string | undefined; readonly secretAccessKey?: string } = {},
): Promise<Emulator & Pick<RunningProcess, 'kill'>> => {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) {
    const leave = async (): Promise<void> => {};
    return { endpoint: given, port: Number(new URL(given).port), stop: leave, kill: leave };
  }
  const binary = dynamoDbProgram();
  const { dataDir, logFile, secretAccessKey } = options;
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const storage = dataDir === undefined ? [] : ['--db-path', join(dataDir, 'dynamodb.sqlite')];
  const host = secretAccessKey === undefined ? '127.0.0.1' : hiddenHost();
  const port = await getPort({ host });
  const child = startProcess(binary, ['serve', '--host', host, '--port', String(port), ...storage], logFile);
  const endpoint = `http://${host}:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(endpoint))) {
    if (child.ended() || Date.now() > deadline) {
      await child.stop();
      throw new Error(`The DynamoDB emulator did not start${child.lastWords() ? `: ${child.lastWords()}` : '.'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  if (secretAccessKey === undefined) return { endpoint, port, stop: child.stop, kill: child.kill };
  const data = { target: endpoint, secretAccessKey };
  const front = await startWorker(new URL('./dynamodb-worker.ts', import.meta.url), { data, logFile });
  const both = (end: () => Promise<void>) => async () => {
    await Promise.all([front.stop(), end()]);
  };
  return {
    endpoint: `http://127.0.0.1:${front.port}`,
    port: front.port,
    stop: both(child.stop),
    kill: both(child.kill),
  };
};
