import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import ses from 'aws-ses-v2-local';
import { type Email, getStoreReadonly, saveEmail } from 'aws-ses-v2-local/dist/store.js';
import { writeFileAtomically } from './atomic-file.ts';
import { guardServers } from './guard.ts';
import { serveHere } from './worker.ts';

const { dataDir, secretAccessKey } = workerData as {
  readonly dataDir: string | undefined;
  readonly secretAccessKey: string;
};

/** The inbox is a page for people. */
guardServers({
  secretAccessKey,
  isOpen: ({ method, url = '/' }) => (method === 'GET' ? !url.startsWith('/v2/') : url === '/clear-store'),
});

const server = await ses.default({ host: '127.0.0.1', port: 0 });

if (dataDir) {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'mail.json');
  if (existsSync(file)) for (const email of JSON.parse(readFileSync(file, 'utf8')) as Email[]) saveEmail(email);
  server.on('request', (request, response) => {
    if (request.method !== 'POST') return;
    response.once('finish', () => writeFileAtomically(file, JSON.stringify(getStoreReadonly().emails)));
  });
}

await serveHere(server);
