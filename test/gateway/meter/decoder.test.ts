import { randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  constants as zlibConstants,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { decoderFor, PIECE_BYTES } from '../../../lambda/gateway/meter/decoder.ts';

const TEXT = 'some text, '.repeat(200);

const decode = async (encoding: string | undefined, ...pieces: readonly (string | Buffer)[]) => {
  const out: Buffer[] = [];
  const decoder = decoderFor(encoding, (chunk) => out.push(chunk));
  for (const piece of pieces) decoder.write(Buffer.from(piece));
  const isWhole = await decoder.end();
  return { text: Buffer.concat(out).toString(), isWhole };
};

/** As large as a decoder may have to allow (RFC 9659), and above. */
it.each([
  [23, true],
  [24, false],
])('takes a window of 2 ** %d bytes: %p', async (windowLog, isWhole) => {
  const params = { [zlibConstants.ZSTD_c_windowLog]: windowLog };
  const text = 'x'.repeat(9 * 2 ** 20);
  const decoded = await decode('zstd', zstdCompressSync(text, { params }));
  expect(decoded.isWhole).toBe(isWhole);
  expect(decoded.text.length).toBe(isWhole ? text.length : 0);
});

const compressors: [string, (text: string | Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
];

describe('a limit', () => {
  it.each(compressors)('ends the decoding of %s that yields more', async (encoding, compress) => {
    const out: Buffer[] = [];
    const decoder = decoderFor(encoding, (chunk) => out.push(chunk), 100_000);
    decoder.write(compress(Buffer.alloc(10_000_000)));
    expect(await decoder.end()).toBe(false);
    expect(Buffer.concat(out).length).toBeLessThanOrEqual(100_000);
  });

  it('ends the decoding of two encodings where the first yields more, and the second nothing', async () => {
    const nothing = Buffer.concat([gzipSync('').subarray(0, 10), Buffer.from('000000ffff'.repeat(100_000), 'hex')]);
    const decoder = decoderFor('gzip, gzip', () => {}, 100_000);
    decoder.write(gzipSync(nothing));
    expect(await decoder.end()).toBe(false);
  });

  it('lets through what is within it', async () => {
    const out: Buffer[] = [];
    const decoder = decoderFor('gzip', (chunk) => out.push(chunk), TEXT.length);
    decoder.write(gzipSync(TEXT));
    expect(await decoder.end()).toBe(true);
    expect(Buffer.concat(out).toString()).toBe(TEXT);
  });
});

describe('a content encoding', () => {
  it.each([undefined, '', 'identity', ' , ', 'Identity, ', 'none'])('that changes nothing: %j', async (encoding) => {
    expect(await decode(encoding, TEXT)).toEqual({ text: TEXT, isWhole: true });
  });

  it.each(compressors)('%s is undone', async (encoding, compress) => {
    const bytes = compress(TEXT);
    expect(await decode(encoding, bytes)).toEqual({ text: TEXT, isWhole: true });
    expect(await decode(` ${encoding.toUpperCase()} , identity`, ...[...bytes].map((byte) => Buffer.of(byte)))).toEqual(
      {
        text: TEXT,
        isWhole: true,
      },
    );
  });

  it.each([
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['deflate', (bytes: Buffer) => deflateSync(bytes)],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
    ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
  ])('%s yields what a cut body holds', async (encoding, compress) => {
    // Larger than any block, and hardly compressible.
    const long = Buffer.from(randomBytes(200_000).toString('hex'));
    const bytes = compress(long);
    const { text, isWhole } = await decode(encoding, bytes.subarray(0, bytes.length - 20));
    expect(text.length).toBeGreaterThan(long.length / 4);
    expect(long.toString().startsWith(text)).toBe(true);
    // Only the JSON inside shows that the body was cut.
    expect(isWhole).toBe(true);
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('%s may compress parts of a body by themselves, which arrive together', async (encoding, compress) => {
    const parts = Buffer.concat([compress(TEXT), compress(TEXT), compress(TEXT)]);
    expect(await decode(encoding, parts)).toEqual({ text: TEXT.repeat(3), isWhole: true });
    const { length } = compress(TEXT);
    for (let cut = length - 1; cut <= length + 4; cut++)
      expect((await decode(encoding, parts.subarray(0, cut), parts.subarray(cut))).text).toBe(TEXT.repeat(3));
  });

  it('two are undone in reverse order', async () => {
    expect(await decode('gzip, br', brotliCompressSync(gzipSync(TEXT)))).toEqual({ text: TEXT, isWhole: true });
    expect(await decode('gzip, br', gzipSync(brotliCompressSync(TEXT)))).toMatchObject({ text: '', isWhole: false });
    expect(await decode('deflate,gzip', gzipSync(deflateSync(TEXT)))).toEqual({ text: TEXT, isWhole: true });
  });

  it.each(['rot13', 'gzip, rot13', 'gzip, gzip, gzip', 'raw-deflate', 'compress'])(
    '%s is not undone, and the body is not whole',
    async (encoding) => {
      const body = encoding === 'raw-deflate' ? deflateRawSync(TEXT) : gzipSync(gzipSync(gzipSync(TEXT)));
      expect(await decode(encoding, body)).toEqual({ text: '', isWhole: false });
    },
  );

  it('a body that is not what it says is not whole, whatever follows', async () => {
    for (const [encoding] of compressors)
      expect(await decode(encoding, 'plainly not compressed', TEXT, TEXT)).toMatchObject({ isWhole: false });
  });

  it('deflate takes an empty body, and empty chunks', async () => {
    expect(await decode('deflate')).toEqual({ text: '', isWhole: true });
    expect(await decode('deflate', '', deflateSync(TEXT))).toEqual({ text: TEXT, isWhole: true });
    expect(await decode('deflate', '', deflateRawSync(TEXT))).toEqual({ text: TEXT, isWhole: true });
  });
});

describe('a decoder that falls behind', () => {
  const LIMIT_BYTES = 16 * 2 ** 20;
  const stored = gzipSync(Buffer.alloc(LIMIT_BYTES + 1_000), { level: zlibConstants.Z_NO_COMPRESSION });
  const writeAtOnce = async (firstBytes: number) => {
    const decoder = decoderFor('gzip', () => {});
    decoder.write(stored.subarray(0, firstBytes));
    decoder.write(stored.subarray(firstBytes));
    return decoder.end();
  };

  it('keeps up to 16 MB of compressed bytes waiting', async () => {
    expect(await writeAtOnce(LIMIT_BYTES - PIECE_BYTES)).toBe(true);
  });

  it('gives up above that, and the body is not whole', async () => {
    expect(await writeAtOnce(LIMIT_BYTES - PIECE_BYTES + 1)).toBe(false);
  });

  it('gives up on pieces of a byte each long before that, as each takes memory', async () => {
    const decoder = decoderFor('gzip', () => {});
    for (let at = 0; at < 100_000; at++) decoder.write(stored.subarray(at, at + 1));
    expect(await decoder.end()).toBe(false);
  });
});
