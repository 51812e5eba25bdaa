/** The floor for a relay over undici's dispatch: it hands on what it gets, and neither reads, checks, counts nor records anything. */
import { createServer } from 'node:http';
import { Agent, type Dispatcher } from 'undici';

const agent = new Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const origin = `http://127.0.0.1:${process.env['ORIGIN_PORT']}`;
const streams = `http://127.0.0.1:${process.env['STREAM_PORT']}`;

createServer((incoming, response) => {
  const path = incoming.url ?? '/';
  const handler: Dispatcher.DispatchHandler = {
    // By its being there undici tells this kind of handler from the older kind.
    onRequestStart: () => {},
    onResponseStart: ({ rawHeaders }, status) => {
      response.writeHead(
        status,
        (rawHeaders as Buffer[]).map((bytes) => bytes.toString('latin1')),
      );
      setImmediate(() => response.flushHeaders());
    },
    onResponseData: (controller, chunk) => {
      if (response.write(chunk)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd: () => {
      response.end();
    },
    onResponseError: () => {
      response.destroy();
    },
  };
  agent.dispatch(
    {
      origin: path.startsWith('/v1/stream') ? streams : origin,
      path,
      method: incoming.method as Dispatcher.HttpMethod,
      headers: incoming.rawHeaders,
      body: incoming,
    },
    handler,
  );
}).listen(Number(process.env['PORT']), '127.0.0.1');
