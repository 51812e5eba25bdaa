import type { Transform } from 'node:stream';

/** Decodes a copy of a body. The client's bytes stay unchanged. */
export interface BodyDecoder {
  write(chunk: Buffer): void;
  /** Resolves when everything is decoded: false if a part could not be. Never rejects. */
  end(): Promise<boolean>;
}

/** Most compressed bytes that wait for the decoder, which is many times faster than a network. Above this the meter gives up. */
export const MAX_WAITING_BYTES = 16 * 2 ** 20;

/** A piece of bytes takes as much memory, however few they are. */
export const PIECE_BYTES = 256;

/** Logarithm of the largest window, whose bytes stay in memory: RFC 9659 allows no larger one. zlib itself takes up to 128 MB. */
const ZSTD_WINDOW_LOG = 23;

const isWhole = async (): Promise<boolean> => true;
const identity = (out: (chunk: Buffer) => void): BodyDecoder => ({ write: out, end: isWhole });

/** For an unknown encoding: decodes nothing, and the reading is incomplete. */
export const undecodable: BodyDecoder = { write: () => {}, end: async () => false };

/** Some servers send `deflate` without the zlib header that the standard requires. No header names this: names are read in lower case. */
const RAW_DEFLATE = 'RAW';
const DEFLATE_METHOD = 8;

/** Loads zlib with the first compressed response: it would add 2.5 ms to every cold start. */
const makeTransform = (encoding: string): Transform | undefined => {
  const zlib = process.getBuiltinModule('node:zlib');
  const { constants } = zlib;
  // An interrupted body still yields what it contains.
  const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(lenient);
    case 'deflate':
      return zlib.createInflate(lenient);
    case RAW_DEFLATE:
      return zlib.createInflateRaw(lenient);
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zlib.createZstdDecompress({
        finishFlush: constants.ZSTD_e_flush,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
      });
    default:
      return undefined;
  }
};

/**
 * @param contentEncoding value of the Content-Encoding header, which may name two encodings
 * @param out takes the decoded bytes
 * @param maxBytes the decoder gives up when it has decoded more, all encodings together
 */
export const decoderFor = (
  contentEncoding: string | undefined,
  out: (chunk: Buffer) => void,
  maxBytes = Number.POSITIVE_INFINITY,
): BodyDecoder => {
  if (contentEncoding === undefined) return identity(out);
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    // Servers send `none` to keep proxies from compressing a stream.
    .filter((name) => name !== '' && name !== 'identity' && name !== 'none');
  if (encodings.length === 0) return identity(out);
  if (encodings.length === 1 && encodings[0] === 'deflate') return deflateDecoder(out, maxBytes);
  const transforms = encodings.reverse().map(makeTransform);
  if (transforms.length > 2 || transforms.includes(undefined)) return undecodable;
  const decoder = piped(transforms as Transform[], out, maxBytes);
  return encodings[0] === 'zstd' ? frameByFrame(decoder) : decoder;
};

const ZSTD_FRAME = Buffer.from('28b52ffd', 'hex');

/**
 * Node decodes one zstd frame of a chunk, and drops those behind it. A cut at such bytes within a frame does no harm, nor one at the end
 * of a chunk where such bytes may begin.
 */
const frameByFrame = (decoder: BodyDecoder): BodyDecoder => ({
  write: (chunk) => {
    let from = 0;
    for (let next = chunk.indexOf(ZSTD_FRAME, 1); next !== -1; next = chunk.indexOf(ZSTD_FRAME, from + 1)) {
      decoder.write(chunk.subarray(from, next));
      from = next;
    }
    const begun = chunk.indexOf(ZSTD_FRAME[0] as number, Math.max(from + 1, chunk.length - 3));
    if (begun !== -1) decoder.write(chunk.subarray(from, begun));
    decoder.write(chunk.subarray(Math.max(from, begun)));
  },
  end: decoder.end,
});

/** The first byte shows whether there is a zlib header: only then is its low half the compression method. */
const deflateDecoder = (out: (chunk: Buffer) => void, maxBytes: number): BodyDecoder => {
  let decoder: BodyDecoder | undefined;
  return {
    write: (chunk) => {
      if (chunk.length === 0) return;
      const hasHeader = ((chunk[0] as number) & 0x0f) === DEFLATE_METHOD;
      decoder ??= piped([makeTransform(hasHeader ? 'deflate' : RAW_DEFLATE) as Transform], out, maxBytes);
      decoder.write(chunk);
    },
    end: async () => decoder?.end() ?? true,
  };
};

const piped = (transforms: Transform[], out: (chunk: Buffer) => void, maxBytes: number): BodyDecoder => {
  const first = transforms[0] as Transform;
  const last = transforms.at(-1) as Transform;
  let ok = true;
  const finished = new Promise<void>((resolve) => {
    last.on('end', resolve);
    for (const transform of transforms)
      transform.on('error', () => {
        ok = false;
        resolve();
      });
  });
  transforms.reduce((from, to) => from.pipe(to));
  let waitingBytes = 0;
  let decodedBytes = 0;
  const count = (chunk: Buffer): void => {
    decodedBytes += chunk.length;
    if (decodedBytes <= maxBytes || !ok) return;
    ok = false;
    for (const transform of transforms) transform.destroy(new Error('decodes to too much'));
  };
  for (const transform of transforms) transform.on('data', count);
  last.on('data', (chunk: Buffer) => {
    if (ok) out(chunk);
  });
  return {
    write: (chunk) => {
      if (!ok) return;
      if (waitingBytes > MAX_WAITING_BYTES) {
        ok = false;
        first.destroy(new Error('decoder too slow'));
        return;
      }
      const bytes = chunk.length + PIECE_BYTES;
      waitingBytes += bytes;
      first.write(chunk, () => {
        waitingBytes -= bytes;
      });
    },
    end: async () => {
      if (ok) first.end();
      await finished;
      return ok;
    },
  };
};
