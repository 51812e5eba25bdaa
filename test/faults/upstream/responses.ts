import type { Socket } from 'node:net';
import type { Outcome } from '../../../lambda/domain/usage/usage-event.ts';

/** A response of a provider that goes wrong, and what its client must see through the gateway. */
export interface FaultyResponse {
  readonly name: string;
  /** @param pace how many times longer it takes over it */
  readonly response: (socket: Socket, pace: number) => void;
  readonly method?: string;
  readonly status: number;
  /** Ended as announced. */
  readonly whole: boolean;
  /** What must have come of the body, at least. */
  readonly body?: string;
  readonly outcome: Outcome;
  /** The time-out that ends it, where the provider only keeps silent: for headers, or for the next bytes. */
  readonly endedBy?: 'headersTimeoutMs' | 'idleTimeoutMs';
  /** A client that asks directly sees the same; not where there is no response at all, which is our 502, nor where it would wait for ever. */
  readonly asDirect: boolean;
}

const head = (...lines: string[]): string => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const CHUNKED = head('Content-Type: text/event-stream', 'Transfer-Encoding: chunked');
const EVENT = 'data: {"a":1}\n\n';
const PAUSE_MS = 10;

/** Writes bytes and, once the other side has had the time to take them, does something else. */
const then =
  (bytes: string, next: (socket: Socket) => void) =>
  (socket: Socket, pace: number): void => {
    socket.write(Buffer.from(bytes, 'latin1'));
    setTimeout(() => next(socket), PAUSE_MS * pace);
  };
const bytes = (text: string) => (socket: Socket) => {
  socket.write(Buffer.from(text, 'latin1'));
};
const reset = (socket: Socket): void => {
  socket.resetAndDestroy();
};
const close = (socket: Socket): void => {
  socket.end();
};
const nothing = (): void => {};

const noResponse = (name: string, response: FaultyResponse['response']): FaultyResponse => ({
  name,
  response,
  status: 502,
  whole: true,
  outcome: 'unreachable',
  asDirect: false,
});
const noHeaders = (name: string, response: FaultyResponse['response']): FaultyResponse => ({
  ...noResponse(name, response),
  endedBy: 'headersTimeoutMs',
});
const broken = (name: string, response: FaultyResponse['response'], body = ''): FaultyResponse => ({
  name,
  response,
  status: 200,
  whole: false,
  body,
  outcome: 'upstream_aborted',
  asDirect: true,
});
const stalled = (name: string, response: FaultyResponse['response'], body?: string): FaultyResponse => ({
  ...broken(name, response, body),
  endedBy: 'idleTimeoutMs',
  asDirect: false,
});
const fine = (
  name: string,
  response: FaultyResponse['response'],
  body: string,
  more: Partial<FaultyResponse> = {},
): FaultyResponse => ({
  name,
  response,
  status: 200,
  whole: true,
  body,
  outcome: 'completed',
  asDirect: true,
  ...more,
});

const beforeHeaders: readonly FaultyResponse[] = [
  noResponse('resets before headers', reset),
  noResponse('closes before headers', close),
  noResponse('resets within headers', then('HTTP/1.1 200 OK\r\nContent-Le', reset)),
  noHeaders('stalls before headers', nothing),
  noHeaders('stalls within headers', bytes('HTTP/1.1 200 OK\r\nContent-Le')),
  noHeaders('only ever says 102 Processing', bytes('HTTP/1.1 102 Processing\r\n\r\n')),
  noResponse(
    'switches protocols unasked',
    bytes('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ),
  noResponse('responds with TLS', bytes('\x15\x03\x01\x00\x02\x02\x46')),
  noResponse('responds without headers (HTTP/0.9)', (socket) => socket.end('hello')),
  noResponse(
    '10 MB of headers',
    bytes(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(10 * 2 ** 20)}\r\nContent-Length: 2\r\n\r\nok`),
  ),
  noResponse('a header with a control character', bytes(`${head('X-A: a\x01b', 'Content-Length: 2')}ok`)),
  noResponse('a NUL in a header', bytes(`${head('X-A: a\0b', 'Content-Length: 2')}ok`)),
  noResponse('two Content-Lengths', bytes(`${head('Content-Length: 2', 'Content-Length: 3')}ok`)),
  noResponse(
    'Content-Length and Transfer-Encoding',
    bytes(`${head('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`),
  ),
  noResponse('a status of four digits', bytes('HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nok')),
  noResponse('a status below 100', bytes('HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok')),
  noResponse('status 0', bytes('HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\nok')),
];

const afterHeaders: readonly FaultyResponse[] = [
  broken('resets after headers', then(head('Content-Length: 10'), reset)),
  broken('closes after headers', then(head('Content-Length: 10'), close)),
  stalled('stalls after headers', bytes(head('Content-Length: 10'))),
  broken('resets in mid-body', then(`${head('Content-Length: 10')}hello`, reset), 'hello'),
  broken('closes in mid-body: a Content-Length too long', then(`${head('Content-Length: 10')}hello`, close), 'hello'),
  broken('resets in mid-chunk', then(`${CHUNKED}${chunk(EVENT)}ff\r\nda`, reset), `${EVENT}da`),
  // `complete` of Node's own client is true all the same.
  { ...broken('resets in mid-body without a length', then(`${head()}hello`, reset), 'hello'), asDirect: false },
  broken('closes in mid-chunk', then(`${CHUNKED}${chunk(EVENT)}ff\r\nda`, close), `${EVENT}da`),
  broken('closes between chunks', then(CHUNKED + chunk(EVENT), close), EVENT),
  stalled('stalls in mid-chunk', bytes(`${CHUNKED}${chunk(EVENT)}ff\r\nda`), `${EVENT}da`),
  stalled('stalls between chunks', bytes(CHUNKED + chunk(EVENT)), EVENT),
  broken('a chunk size that is none', then(CHUNKED + chunk(EVENT), bytes('zz\r\nx\r\n')), EVENT),
  broken('a chunk longer than its size', then(CHUNKED + chunk(EVENT), bytes('2\r\nhello\r\n')), `${EVENT}he`),
  broken('a chunk size past 2^64', then(CHUNKED + chunk(EVENT), bytes('1ffffffffffffffff\r\nx')), EVENT),
  broken('malformed trailers', then(CHUNKED + chunk(EVENT), bytes('0\r\nX T: 1\r\n\r\n')), EVENT),
];

const odd: readonly FaultyResponse[] = [
  fine('a Content-Length too short', then(`${head('Content-Length: 2')}ok`, bytes(' and more')), 'ok'),
  fine('a Content-Length too short, in one piece', bytes(`${head('Content-Length: 2')}ok and more`), 'ok', {
    asDirect: false,
  }),
  fine('204 with a body', bytes('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok'), '', { status: 204 }),
  fine('204 in chunks', bytes('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'), '', {
    status: 204,
  }),
  fine('HEAD with a body', bytes(`${head('Content-Length: 2')}ok`), '', { method: 'HEAD' }),
  fine('a Content-Length within spaces', bytes(`${head('Content-Length:  2 ')}ok`), 'ok'),
  fine(
    'bytes after the last chunk',
    then(`${CHUNKED}${chunk(EVENT)}0\r\n\r\n`, bytes(head('Content-Length: 6'))),
    EVENT,
  ),
  fine('a body without a length, ended by closing', then(`${head()}hello`, close), 'hello'),
  fine('HTTP/1.0', then('HTTP/1.0 200 OK\r\n\r\nhello', close), 'hello'),
  fine(
    '103 Early Hints first',
    bytes(`HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${head('Content-Length: 2')}ok`),
    'ok',
  ),
  fine('100 Continue unasked', bytes(`HTTP/1.1 100 Continue\r\n\r\n${head('Content-Length: 2')}ok`), 'ok'),
  fine('status 999', bytes('HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok'), 'ok', { status: 999 }),
  fine('no reason phrase', bytes('HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'), 'ok'),
  fine('a reason phrase with control characters', bytes('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok'), 'ok'),
  fine(
    'headers of ours',
    bytes(
      `${head('X-Service-Route: x', 'X-Service-Request-Id: y', 'Connection: x-service-route', 'Content-Length: 2')}ok`,
    ),
    'ok',
  ),
  fine('100 KB of headers', bytes(`${head(`X-A: ${'a'.repeat(100 * 1024)}`, 'Content-Length: 2')}ok`), 'ok'),
];

export const faultyResponses: readonly FaultyResponse[] = [...beforeHeaders, ...afterHeaders, ...odd];
