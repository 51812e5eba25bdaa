import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { DecodedStream } from '../../../lambda/gateway/relay/decoded-stream.ts';
import type { UpstreamListener } from '../../../lambda/gateway/upstream/upstream.ts';

const TEXT = 'data: {"a":1}\n\n'.repeat(100);

/** Passes a response on and resolves with what arrives, in order. */
const received = (headers: string[], bytes: Buffer, end: (stream: DecodedStream) => void): Promise<string[]> =>
  new Promise((resolve) => {
    const log: string[] = [];
    let body = '';
    const finish = (how: string): void => resolve([...log, body, how]);
    const listener: UpstreamListener = {
      onHeaders: (head) => log.push(head.headers.join(': ')),
      onData: (chunk) => {
        body += chunk.toString('latin1');
      },
      onEnd: (trailers) => finish(`end ${trailers.join(': ')}`),
      onError: ({ message }) => finish(message),
      onRequestBytes: (chunk) => log.push(`sent ${chunk.length}`),
      onRequestEnd: () => log.push('sent all'),
    };
    const stream = new DecodedStream(listener);
    stream.onRequestBytes(Buffer.alloc(3));
    stream.onRequestEnd();
    stream.onHeaders({ status: 200, statusMessage: 'OK', headers });
    for (let at = 0; at < bytes.length; at += 10) stream.onData(bytes.subarray(at, at + 10));
    end(stream);
  });

const stream = (encoding: string) => ['Content-Type', 'Text/Event-Stream; charset=utf-8', 'content-encoding', encoding];
const whole = (decoded: DecodedStream): void => decoded.onEnd(['X-T', '1']);

describe('a response to a request for no compression', () => {
  it('is decoded if it is a stream of events', async () => {
    expect(await received([...stream('GZIP'), 'Content-Length', '9', 'X-A', '1'], gzipSync(TEXT), whole)).toEqual([
      'sent 3',
      'sent all',
      'Content-Type: Text/Event-Stream; charset=utf-8: X-A: 1',
      TEXT,
      'end X-T: 1',
    ]);
  });

  it('passes what arrived before it was interrupted', async () => {
    const bytes = gzipSync(TEXT);
    const [, , , body, how] = await received(stream('gzip'), bytes.subarray(0, bytes.length - 9), (decoded) =>
      decoded.onError(new Error('interrupted')),
    );
    expect([TEXT.startsWith(body as string), how]).toEqual([true, 'interrupted']);
    expect(body?.length).toBeGreaterThan(1_000);
  });

  it('ends with an error where it cannot be decoded', async () => {
    const [, , , , how] = await received(stream('gzip'), Buffer.from(TEXT), whole);
    expect(how).toBe('the provider’s response could not be decoded');
  });

  it.each<[string, string[]]>([
    ['is no stream', ['Content-Type', 'application/json', 'Content-Encoding', 'gzip']],
    ['has an unknown encoding', stream('rot13')],
    ['is not compressed', ['Content-Type', 'text/event-stream']],
  ])('passes unchanged where it %s', async (_case, headers) => {
    const bytes = gzipSync(TEXT);
    const [, , head, body, how] = await received(headers, bytes, whole);
    expect([head, body, how]).toEqual([headers.join(': '), bytes.toString('latin1'), 'end X-T: 1']);
  });
});
