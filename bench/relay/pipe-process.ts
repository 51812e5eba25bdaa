/** The peer nothing in Node can beat by much: a proxy that pipes and does nothing else. */
import { Agent, createServer, request } from 'node:http';

const agent = new Agent({ keepAlive: true });
const origin = Number(process.env['ORIGIN_PORT']);
const streams = Number(process.env['STREAM_PORT']);

createServer((incoming, response) => {
  const port = incoming.url?.startsWith('/v1/stream') ? streams : origin;
  const outgoing = request(
    { agent, port, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers: incoming.headers },
    (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      response.flushHeaders();
      upstream.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}).listen(Number(process.env['PORT']), '127.0.0.1');
