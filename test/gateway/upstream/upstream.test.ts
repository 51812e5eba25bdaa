import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RawOrigin, startRawOrigin } from '../../faults/raw/raw-origin.ts';
import { transportNames, transports } from '../../faults/transports.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe.each(transportNames)('an exchange over %s', (name) => {
  let origin: RawOrigin;
  const upstream = transports[name]({ connectTimeoutMs: 60_000, headersTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
  beforeAll(async () => {
    origin = await startRawOrigin();
  });
  afterAll(async () => {
    upstream.close();
    await origin.close();
  });

  /** What is told of an answer that comes in one piece. */
  const told = (answer: string): Promise<string[]> => {
    origin.script = (socket) => socket.write(answer);
    const all: string[] = [];
    return new Promise((resolve) =>
      upstream.send(
        { method: 'GET', origin: origin.origin, target: '/', headers: ['Host', 'x'], framing: 'none', body: null },
        {
          onHeaders: ({ status }) => all.push(`headers ${status}`),
          onData: (chunk) => all.push(`data ${chunk}`),
          onRequestBytes: () => {},
          onRequestEnd: () => {},
          onEnd: () => resolve([...all, 'end']),
          onError: () => resolve([...all, 'error']),
        },
      ),
    );
  };

  it.each([
    ['a chunk size that is none', 'zz\r\nx\r\n'],
    ['malformed trailers', '0\r\nX T: 1\r\n\r\n'],
  ])('tells what came in one piece with %s before it tells of the fault', async (_, fault) => {
    expect(await told(`${HEAD}5\r\nhello\r\n${fault}`)).toEqual(['headers 200', 'data hello', 'error']);
  });

  it('tells each piece once', async () => {
    expect(await told(`${HEAD}5\r\nhello\r\n0\r\n\r\n`)).toEqual(['headers 200', 'data hello', 'end']);
  });
});
