import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import { conditionalFetch } from '../../web/src/api/conditional-fetch.ts';

const body = JSON.stringify({ items: [] });
let isStalling = false;
/** What requests say that the browser has. */
const tags: (string | undefined)[] = [];
/** A response that stopped within its body. */
let unfinished: ServerResponse | undefined;

const server = createServer((request, response) => {
  tags.push(request.headers['if-none-match']);
  if (request.headers['if-none-match'] === '"1"') return response.writeHead(304, { etag: '"1"' }).end();
  response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' });
  if (!isStalling) return response.end(body);
  unfinished = response;
  return response.write(body.slice(0, 5));
});

beforeAll(() => listen(server));
afterAll(() => stopServer(server));

const openGet = (onEnd: (end: () => void) => void = () => {}) => {
  const send = conditionalFetch(fetch, { onEnd });
  return async (init?: RequestInit): Promise<unknown> => (await send(new Request(urlOf(server), init))).json();
};

it('gives the body again where it has not changed', async () => {
  const get = openGet();
  for (const _ of [1, 2, 3]) expect(await get()).toEqual({ items: [] });
});

it('asks for all of the response to what changes something', async () => {
  const get = openGet();
  expect(await get()).toEqual({ items: [] });
  tags.length = 0;
  expect(await get({ method: 'POST', body: '{}' })).toEqual({ items: [] });
  expect(await get()).toEqual({ items: [] });
  expect(tags).toEqual([undefined, '"1"']);
});

it('forgets what one user received before another signs in', async () => {
  let endSession = () => {};
  const get = openGet((end) => {
    endSession = end;
  });
  await get();
  tags.length = 0;
  endSession();
  await get();
  expect(tags).toEqual([undefined]);
});

it('asks for all of a body whose first response was left before its end', async () => {
  const get = openGet();
  isStalling = true;
  const left = new AbortController();
  const first = get({ signal: left.signal }).catch((error: Error) => error.name);
  while (!unfinished) await new Promise((resolve) => setTimeout(resolve, 5));
  // Its headers arrive, and what is there of the body.
  await new Promise((resolve) => setTimeout(resolve, 50));
  left.abort();
  expect(await first).toBe('AbortError');
  isStalling = false;
  expect(await get()).toEqual({ items: [] });
});
