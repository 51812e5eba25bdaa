import { Agent, createServer, request } from 'node:http';
import { workerData } from 'node:worker_threads';
import { guardServers } from './guard.ts';
import { serveHere } from './worker.ts';

/** Stands in front of the DynamoDB emulator, a program that checks no signature and lets every page call it. */
const { target, secretAccessKey } = workerData as { readonly target: string; readonly secretAccessKey: string };
guardServers({ secretAccessKey });

const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, outgoing) => {
  const { method, url = '/', headers } = incoming;
  const forwarded = request(new URL(url, target), { method, headers, agent }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  forwarded.once('error', () => outgoing.destroy());
  incoming.pipe(forwarded);
});
server.listen(0, '127.0.0.1', () => void serveHere(server));
