import { existsSync } from 'node:fs';
import { Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { startFauxqs } from 'fauxqs';
import { guardServers } from './guard.ts';
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

const { dataDir, secretAccessKey } = workerData as { readonly dataDir?: string; readonly secretAccessKey: string };
guardServers({ secretAccessKey });

const MAKE_VISIBLE = 'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL';

/** Whoever had taken a message died with the last run: it is visible again at once, instead of after its time-out. */
const file = dataDir && join(dataDir, 'fauxqs.db');
if (file && existsSync(file)) {
  const database = new DatabaseSync(file);
  database.exec(MAKE_VISIBLE);
  database.close();
}

/** Its own (fauxqs 2.4.1) also empties a column that may not be empty: the message was lost until the next start. */
const { PersistenceManager } = await import(new URL('persistence.js', import.meta.resolve('fauxqs')).href);
PersistenceManager.prototype.updateMessageReady = function (this: { readonly db: DatabaseSync }, messageId: string) {
  this.db.prepare(`${MAKE_VISIBLE} WHERE message_id = ?`).run(messageId);
};

const storage = dataDir === undefined ? {} : { dataDir, s3StorageDir: join(dataDir, 'objects') };
const server = await startFauxqs({ port: 0, logger: false, ...storage });
await serveUntilStopped(server.port, () => server.stop());
