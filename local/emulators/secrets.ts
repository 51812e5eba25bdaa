import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { closeServer } from '../../lambda/gateway/hosts/http-server.ts';
import { writeFileAtomically } from './atomic-file.ts';
import { guarded, KNOWN_SECRET } from './guard.ts';
import type { EmulatorOptions } from './worker.ts';

/** How a secret comes to its first value. */
interface SecretSeed {
  /** The name that functions ask for. */
  readonly id: string;
  /** A fixed value; without it one is generated. */
  readonly value?: string | undefined;
  /** The length of a generated value. */
  readonly length?: number;
}

const generated = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

interface Request {
  readonly SecretId: string;
  readonly VersionStage?: string;
  readonly SecretString?: string;
  /** Name of a new secret. */
  readonly Name?: string;
}

const PREVIOUS = 'AWSPREVIOUS';
/** A deletion takes some time. This number of requests about the secret, such as its new creation, are refused after one. */
const REFUSED_AFTER_DELETION = 2;

/**
 * Secrets Manager's GetSecretValue, PutSecretValue, CreateSecret and DeleteSecret, over one JSON file under `dataDir`. There is no package that does just this.
 * The previous value is kept as the stage AWSPREVIOUS. Secrets are deleted without recovery.
 */
export const startSecrets = async ({
  dataDir,
  secretAccessKey = KNOWN_SECRET,
}: EmulatorOptions & { readonly dataDir: string }) => {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'secrets.json');
  const values = new Map<string, string>(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : [],
  );
  const put = (entries: Record<string, string>): void => {
    for (const [id, value] of Object.entries(entries)) values.set(id, value);
    writeFileAtomically(file, JSON.stringify(Object.fromEntries(values), null, 2));
  };
  const refusalsLeft = new Map<string, number>();
  const operations: Record<string, (request: Request, value: string) => object> = {
    'secretsmanager.GetSecretValue': ({ SecretId, VersionStage = 'AWSCURRENT' }, value) => ({
      ARN: SecretId,
      Name: SecretId,
      SecretString: value,
      VersionId: 'local',
      VersionStages: [VersionStage],
    }),
    'secretsmanager.PutSecretValue': ({ SecretId, SecretString = '' }, value) => {
      put({ [SecretId]: SecretString, [`${SecretId} ${PREVIOUS}`]: value });
      return { ARN: SecretId, Name: SecretId, VersionId: 'local', VersionStages: ['AWSCURRENT'] };
    },
  };

  const respondTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const respond = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    };
    const refuse = (__type: string, message: string) => respond(400, { __type, message });
    const body = await text(request);
    const target = String(request.headers['x-amz-target']);
    const operation = operations[target];
    if (operation === undefined && !/\.(Create|Delete)Secret$/.test(target))
      return refuse(
        'UnknownOperationException',
        'Only GetSecretValue, PutSecretValue, CreateSecret and DeleteSecret are emulated.',
      );
    const asked = JSON.parse(body) as Request;
    if (target === 'secretsmanager.DeleteSecret') {
      if (values.delete(asked.SecretId)) refusalsLeft.set(asked.SecretId, REFUSED_AFTER_DELETION);
      values.delete(`${asked.SecretId} ${PREVIOUS}`);
      put({});
      return respond(200, { ARN: asked.SecretId, Name: asked.SecretId });
    }
    const name = asked.SecretId ?? asked.Name;
    const left = refusalsLeft.get(name) ?? 0;
    if (left > 0) {
      refusalsLeft.set(name, left - 1);
      return refuse('InvalidRequestException', 'The secret was marked for deletion.');
    }
    if (operation === undefined) {
      if (values.has(String(asked.Name))) return refuse('ResourceExistsException', 'The secret exists already.');
      put({ [String(asked.Name)]: asked.SecretString ?? '' });
      return respond(200, { ARN: asked.Name, Name: asked.Name, VersionId: 'local' });
    }
    const value = values.get(asked.VersionStage === PREVIOUS ? `${asked.SecretId} ${PREVIOUS}` : asked.SecretId);
    if (value === undefined)
      return refuse('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return respond(200, operation(asked, value));
  };
  const server = createServer(guarded({ secretAccessKey }, (request, response) => void respondTo(request, response)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    /** Adds a secret unless it is there: a value once generated stays. */
    ensure({ id, length = 32, value = generated(length) }: SecretSeed): string {
      if (!values.has(id)) put({ [id]: value });
      return values.get(id) ?? value;
    },
    stop: () => closeServer(server, 0),
  };
};

export type SecretsEmulator = Awaited<ReturnType<typeof startSecrets>>;
