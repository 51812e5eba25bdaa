import { existsSync } from 'node:fs';
import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { startFauxqs } from 'fauxqs';
import { serveUntilStopped } from './worker.ts';

/**
 * fauxqs listens on 0.0.0.0 and has no option for it (its `host` only shapes queue URLs). Only this thread's copy of
 * node:net is changed, and nothing else listens here.
 */
const listen = Server.prototype.listen;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  const [options] = args;
  const local = options && typeof options === 'object' ? [{ ...options, host: '127.0.0.1' }, ...args.slice(1)] : args;
  return Reflect.apply(listen, this, local);
};

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Whether a request has neither a signature of its own nor a signed link that is still valid. */
const isRefused = ({ url = '/', headers }: IncomingMessage): boolean => {
  if (headers.authorization !== undefined || url === '/health') return false;
  const { searchParams } = new URL(url, 'http://localhost');
  const signedAtMs = Date.parse((searchParams.get('X-Amz-Date') ?? '').replace(DATE, '$1-$2-$3T$4:$5:$6Z'));
  return !(Date.now() < signedAtMs + Number(searchParams.get('X-Amz-Expires')) * 1_000);
};

/** fauxqs asks nobody for credentials, and its links to objects never expire. */
const emit = HttpServer.prototype.emit;
HttpServer.prototype.emit = function (this: HttpServer, event: string, ...args: unknown[]) {
  if (event !== 'request' || !isRefused(args[0] as IncomingMessage)) return Reflect.apply(emit, this, [event, ...args]);
  (args[1] as ServerResponse)
    .writeHead(403, { 'content-type': 'application/xml' })
    .end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>');
  return true;
};

const { dataDir } = workerData as { readonly dataDir: string };

/** Whoever had taken a message died with the last run: it is visible again at once, instead of after its time-out. */
const file = join(dataDir, 'fauxqs.db');
if (existsSync(file)) {
  const database = new DatabaseSync(file);
  database.exec('UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL');
  database.close();
}

const server = await startFauxqs({ port: 0, logger: false, dataDir, s3StorageDir: join(dataDir, 'objects') });
await serveUntilStopped(server.port, () => server.stop());
