import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { RequestCopy } from '../../../lambda/gateway/relay/request-copy.ts';

const PATH = '/v1/chat/completions';
const BODY = Buffer.from(JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ content: 'four' }] }));

const copyOf = (encoding?: string): RequestCopy =>
  new RequestCopy(
    {
      method: 'POST',
      host: 'x',
      target: PATH,
      headers: ['Content-Type', 'application/json', ...(encoding === undefined ? [] : ['Content-Encoding', encoding])],
      body: null,
    },
    PATH,
  );

describe('the copy of a request', () => {
  const encodings: [string | undefined, Buffer][] = [
    [undefined, BODY],
    ['gzip', gzipSync(BODY)],
    ['deflate', deflateSync(BODY)],
    ['br', brotliCompressSync(BODY)],
  ];

  it.each(encodings)('in encoding %s has the facts of its body, whole or in chunks', async (encoding, bytes) => {
    const whole = copyOf(encoding);
    whole.keepWhole(bytes);
    whole.readWhole();
    const chunks = copyOf(encoding);
    for (const byte of bytes) chunks.read(Buffer.of(byte));
    chunks.finish();
    const unfinished = copyOf(encoding);
    unfinished.read(bytes);
    for (const copy of [whole, chunks, unfinished]) {
      const facts = await copy.facts();
      expect(facts).toMatchObject({ model: 'gpt-4o', stream: true });
      expect(facts.prompt.count()).toMatchObject({ messages: 1, textBytes: 4, uncounted: [] });
      expect(copy.bytes).toBe(bytes.length);
    }
  });

  it.each<[string, string, Buffer]>([
    ['cannot be decoded', 'gzip', BODY],
    ['has an unknown encoding', 'rot13', BODY],
    [
      'decodes to more than 64 MB',
      'gzip',
      gzipSync(Buffer.concat([BODY.subarray(0, 20), Buffer.alloc(65 * 2 ** 20, ' ')])),
    ],
  ])('of a body that %s is a lower bound', async (_case, encoding, bytes) => {
    const copy = copyOf(encoding);
    copy.keepWhole(bytes);
    const { prompt } = await copy.facts();
    expect(prompt.count().uncounted).toEqual(['part']);
  });
});
