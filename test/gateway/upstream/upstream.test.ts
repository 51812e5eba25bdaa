import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type RawOrigin, startRawOrigin } from '../../faults/raw/raw-origin.ts';
import { transportNames, transports } from '../../faults/transports.ts';

const TIMEOUT_MS = 60_000;
const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe.each(transportNames)('an exchange over %s', (name) => {
  let origin: RawOrigin;
  const upstream = transports[name]({
    connectTimeoutMs: TIMEOUT_MS,
    headersTimeoutMs: TIMEOUT_MS,
    idleTimeoutMs: TIMEOUT_MS,
  });
  beforeAll(async () => {
    origin = await startRawOrigin();
  });
  afterAll(async () => {
    upstream.close();
    await origin.close();
  });

  /** Sends a request and calls back with each event, as text. The last event is `end` or an error's message. */
  const watch = (
    body: Readable | null,
    onEvent: (event: string) => void,
    destination = origin.origin,
  ): Promise<string> =>
    new Promise((resolve) =>
      upstream.send(
        {
          method: body ? 'POST' : 'GET',
          origin: destination,
          target: '/',
          headers: ['Host', 'x'],
          framing: body ? 'chunked' : 'none',
          body,
        },
        {
          onHeaders: ({ status }) => onEvent(`headers ${status}`),
          onData: (chunk) => onEvent(`data ${chunk}`),
          onRequestBytes: (chunk) => onEvent(`sent ${chunk}`),
          onRequestEnd: () => {},
          onEnd: () => resolve('end'),
          onError: ({ message }) => resolve(message),
        },
      ),
    );

  /** The events of a response that arrives in one chunk. An error's message depends on the transport. */
  const eventsOf = async (response: string): Promise<string[]> => {
    origin.script = (socket) => socket.write(response);
    const events: string[] = [];
    const result = await watch(null, (event) => events.push(event));
    return [...events, result === 'end' ? result : 'error'];
  };

  it.each([
    ['a chunk size that is none', 'zz\r\nx\r\n'],
    ['malformed trailers', '0\r\nX T: 1\r\n\r\n'],
  ])('reports what arrived in one chunk with %s before the fault', async (_, fault) => {
    expect(await eventsOf(`${HEAD}5\r\nhello\r\n${fault}`)).toEqual(['headers 200', 'data hello', 'error']);
  });

  it('drops the rest of a body once the response has ended, though the provider reads no more of it', async () => {
    origin.onHead = (socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
    };
    const pieces = Array.from({ length: 512 }, () => Buffer.alloc(65_536));
    const body = Readable.from(pieces, { objectMode: true });
    const closed = new Promise((resolve) => body.once('close', resolve));
    expect(await watch(body, () => {})).toBe('end');
    await closed;
    origin.onHead = () => {};
  });

  it('connects to an IPv6 address, and looks up no name for it', async () => {
    expect(await watch(null, () => {}, 'http://[::1]:1')).not.toMatch(/getaddrinfo|ENOTFOUND/);
  });

  it('reports each chunk once', async () => {
    expect(await eventsOf(`${HEAD}5\r\nhello\r\n0\r\n\r\n`)).toEqual(['headers 200', 'data hello', 'end']);
  });

  describe('timeouts', () => {
    // Only the phase timer's clock is fake: sockets keep their own.
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('a response may last longer than the idle timeout while data arrives', async () => {
      const pieces = ['b', 'c', 'd', undefined].values();
      let provider: Socket | undefined;
      origin.script = (socket) => {
        provider = socket;
        socket.write(`${HEAD}1\r\na\r\n`);
      };
      const events: string[] = [];
      const result = await watch(null, (event) => {
        events.push(event);
        if (!event.startsWith('data')) return;
        // After the transport has handled this chunk.
        setImmediate(() => {
          jest.advanceTimersByTime(TIMEOUT_MS - 1);
          const piece = pieces.next().value;
          provider?.write(piece === undefined ? '0\r\n\r\n' : `1\r\n${piece}\r\n`);
        });
      });
      expect([...events, result]).toEqual(['headers 200', 'data a', 'data b', 'data c', 'data d', 'end']);
    });

    it('a response fails when no data arrives for the idle timeout', async () => {
      origin.script = (socket) => socket.write(`${HEAD}1\r\na\r\n`);
      const result = await watch(null, (event) => {
        if (event === 'data a') setImmediate(() => jest.advanceTimersByTime(TIMEOUT_MS));
      });
      expect(result).toBe('waiting for the provider’s next bytes took more than 60000 ms');
    });

    it('an upload may last longer than the headers timeout while data is sent', async () => {
      const body = new Readable({ read() {} });
      const pieces = ['b', 'c', null].values();
      const sendNext = () =>
        setImmediate(() => {
          jest.advanceTimersByTime(TIMEOUT_MS - 1);
          body.push(pieces.next().value ?? null);
        });
      origin.script = (socket) => socket.write(`${HEAD}0\r\n\r\n`);
      // The first chunk goes out with the headers.
      body.push('a');
      origin.onHead = sendNext;
      const events: string[] = [];
      const result = await watch(body, (event) => {
        events.push(event);
        if (event === 'sent b' || event === 'sent c') sendNext();
      });
      expect([...events, result]).toEqual(['sent a', 'sent b', 'sent c', 'headers 200', 'end']);
    });
  });
});
