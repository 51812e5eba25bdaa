import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Ask } from '../../../fixtures/exchange.ts';
import type { Script } from '../../../fixtures/scripted-origin.ts';

/* Cases for every host of the gateway: the node:http server here, Lambda's adapter in test/conformance. */

/** Name, headers and body of a response. */
const contents: [string, Record<string, string>, Buffer][] = [
  ['JSON with a length', { 'Content-Type': 'application/json', 'Content-Length': '14' }, Buffer.from('{"id":"café"}')],
  [
    'gzip',
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    gzipSync('{"usage":{"prompt_tokens":1}}'),
  ],
  ['br', { 'Content-Type': 'application/json', 'Content-Encoding': 'br' }, brotliCompressSync('{"usage":{}}')],
  ['zstd', { 'Content-Type': 'application/json', 'Content-Encoding': 'zstd' }, zstdCompressSync('{"usage":{}}')],
  [
    'a lie about its encoding',
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    Buffer.from('{"not":"gzip"}'),
  ],
  ['an unknown encoding', { 'Content-Encoding': 'rot13' }, Buffer.from('nothing')],
  ['binary', { 'Content-Type': 'audio/mpeg' }, randomBytes(5_000)],
  ['malformed JSON', { 'Content-Type': 'application/json' }, Buffer.from('{"usage": {"prompt_tokens": ')],
  ['1 MB', { 'Content-Type': 'application/octet-stream' }, randomBytes(2 ** 20)],
  ['20 MB', { 'Content-Type': 'application/octet-stream' }, randomBytes(20 * 2 ** 20)],
  ['nothing', { 'Content-Length': '0' }, Buffer.alloc(0)],
];

export const bodies = contents.map(([name, headers, body]): [string, Script] => [
  name,
  (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  },
]);

export const statuses = [201, 204, 301, 304, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 529];

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND'];

/** Sends a greeting with its length. */
export const greets: Script = (request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '5' });
  response.end(request.method === 'HEAD' ? undefined : 'hello');
};

/** A response in which the provider continues only after the client has received the previous part: it never ends if a part is held back. */
interface PacedResponse {
  readonly script: Script;
  readonly client: Pick<Ask, 'onChunk' | 'onHeaders'>;
  /** The whole body. */
  readonly body: string;
}

const chunkByChunk = (): PacedResponse => {
  const chunks = Array.from({ length: 5 }, (_, n) => `data: {"n":${n}}\n\n`);
  let sendNext = (): void => {};
  return {
    script: (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const rest = chunks.values();
      sendNext = () => {
        const { value } = rest.next();
        if (value === undefined) response.end();
        else response.write(value);
      };
      sendNext();
    },
    client: { onChunk: () => sendNext() },
    body: chunks.join(''),
  };
};

const headersFirst = (): PacedResponse => {
  const body = 'data: late\n\n';
  let sendBody = (): void => {};
  return {
    script: (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.flushHeaders();
      sendBody = () => response.end(body);
    },
    client: { onHeaders: () => sendBody() },
    body,
  };
};

export const pacedResponses: [string, PacedResponse][] = [
  ['chunks as they come: no byte waits for the next', chunkByChunk()],
  ['headers before any body', headersFirst()],
];

/** Responses that are interrupted after their headers. */
export const interruptedResponses: [string, Script][] = [
  [
    'a chunked stream that is cut',
    (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: {"a":1}\n\n');
      setTimeout(() => response.destroy(), 50);
    },
  ],
  [
    'a length that is too long',
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('only this');
      setTimeout(() => response.destroy(), 50);
    },
  ],
];

/** Targets that a proxy might change or mistake for another host. */
export const paths = [
  '/v1/chat/completions?a=1&a=2&b=%20+%2F&%C3%A9=x',
  '//evil.test/x',
  '/a/../b/./c',
  '/v1/files/a%2Fb%2e%2e/content',
  '/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=',
  '/@evil.test/',
  '/?',
  '/caf%C3%A9;p=1?x#frag',
];
