import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeFileAtomically } from './atomic-file.ts';
import type { Emulator } from './emulator.ts';

/** How a secret comes to its first value, in the words of AWS::SecretsManager::Secret. */
interface SecretSeed {
  /** Name or ARN that functions ask for. */
  readonly id: string;
  /** A fixed value; without it one is generated. */
  readonly value?: string | undefined;
  /** Generated values of this length; 32 unless told. */
  readonly length?: number | undefined;
  /** The value is this JSON object with the generated value under `key`. */
  readonly template?: { readonly json: string; readonly key: string } | undefined;
}

export interface SecretsEmulator extends Emulator {
  /** Adds a secret unless it is there: a value once generated stays. */
  ensure(seed: SecretSeed): string;
}

const generated = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

const initialValue = (seed: SecretSeed): string => {
  if (seed.value !== undefined) return seed.value;
  const value = generated(seed.length ?? 32);
  return seed.template ? JSON.stringify({ ...JSON.parse(seed.template.json), [seed.template.key]: value }) : value;
};

/** Secrets Manager's GetSecretValue, over one JSON file under `dataDir`. There is no package that does just this. */
export const startSecrets = async (options: { readonly dataDir: string }): Promise<SecretsEmulator> => {
  mkdirSync(options.dataDir, { recursive: true });
  const file = join(options.dataDir, 'secrets.json');
  const values = new Map<string, string>(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : [],
  );

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    };
    const body = await text(request);
    if (request.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue')
      return answer(400, { __type: 'UnknownOperationException', message: 'Only GetSecretValue is emulated.' });
    const { SecretId: id } = JSON.parse(body) as { readonly SecretId: string };
    const value = values.get(id);
    if (value === undefined)
      return answer(400, {
        __type: 'ResourceNotFoundException',
        message: "Secrets Manager can't find the specified secret.",
      });
    return answer(200, { ARN: id, Name: id, SecretString: value, VersionId: 'local', VersionStages: ['AWSCURRENT'] });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    ensure(seed) {
      const known = values.get(seed.id);
      if (known !== undefined) return known;
      const value = initialValue(seed);
      values.set(seed.id, value);
      writeFileAtomically(file, JSON.stringify(Object.fromEntries(values), null, 2));
      return value;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
