import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import getPort from 'get-port';
import { SetupError } from '../setup-error.ts';
import type { Emulator } from './emulator.ts';
import { type RunningProcess, startProcess } from './process.ts';

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
 * DynamoDB by dynoxide, a static binary with SQLite inside. With DYNAMODB_ENDPOINT set, that server is used and nothing is started.
 *
 * @param options.dataDir takes the data as one file, which stays intact after kill -9; without it, data is in memory
 * @throws MissingEmulatorError on a platform without the binary
 */
export const startDynamoDb = async (
  options: { readonly dataDir?: string; readonly logFile?: string | undefined } = {},
): Promise<Emulator & Pick<RunningProcess, 'kill'>> => {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) {
    const leave = async (): Promise<void> => {};
    return { endpoint: given, port: Number(new URL(given).port), stop: leave, kill: leave };
  }
  const binary = dynamoDbProgram();
  const { dataDir, logFile } = options;
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const storage = dataDir === undefined ? [] : ['--db-path', join(dataDir, 'dynamodb.sqlite')];
  const port = await getPort();
  const child = startProcess(binary, ['serve', '--port', String(port), ...storage], logFile);
  const endpoint = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(endpoint))) {
    if (child.ended() || Date.now() > deadline) {
      await child.stop();
      throw new Error(`The DynamoDB emulator did not start${child.lastWords() ? `: ${child.lastWords()}` : '.'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { endpoint, port, stop: child.stop, kill: child.kill };
};
