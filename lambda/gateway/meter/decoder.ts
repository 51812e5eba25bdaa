import type { Transform } from 'node:stream';

/** Undoes a content encoding on the meter's copy. The client's bytes stay as they are. */
export interface BodyDecoder {
  write(chunk: Buffer): void;
  /** Resolves when all has been decoded: false when the body could not be decoded whole. Never rejects. */
  end(): Promise<boolean>;
}

/** Compressed bytes that may wait for the decoder. It is many times faster than a network; past this the meter gives up. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;

const isWhole = async (): Promise<boolean> => true;
const identity = (out: (chunk: Buffer) => void): BodyDecoder => ({ write: out, end: isWhole });

/** A decoder for what we do not know: nothing comes out, and the reading is incomplete. */
const undecodable: BodyDecoder = { write: () => {}, end: async () => false };

/** No name of an encoding: what some servers send as `deflate`, without the zlib header that the name asks for. */
const RAW_DEFLATE = 'raw-deflate';
const DEFLATE_METHOD = 8;

/** zlib is loaded when the first compressed answer comes: it would cost every cold start 2.5 ms. */
const makeTransform = (encoding: string): Transform | undefined => {
  const zlib = process.getBuiltinModule('node:zlib');
  // A body that breaks off still gives what it held.
  const lenient = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(lenient);
    case 'deflate':
      return zlib.createInflate(lenient);
    case RAW_DEFLATE:
      return zlib.createInflateRaw(lenient);
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush });
    default:
      return undefined;
  }
};

/**
 * @param contentEncoding value of the Content-Encoding header; several encodings are undone in turn
 * @param out takes the decoded bytes
 */
export const decoderFor = (contentEncoding: string | undefined, out: (chunk: Buffer) => void): BodyDecoder => {
  if (contentEncoding === undefined) return identity(out);
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length === 0) return identity(out);
  if (encodings.length === 1 && encodings[0] === 'deflate') return deflateDecoder(out);
  const transforms = encodings.reverse().map((name) => (name === RAW_DEFLATE ? undefined : makeTransform(name)));
  if (transforms.length > 2 || transforms.includes(undefined)) return undecodable;
  return piped(transforms as Transform[], out);
};

/** Tells by the first byte, whose low half is the method with a zlib header and not without. */
const deflateDecoder = (out: (chunk: Buffer) => void): BodyDecoder => {
  let decoder: BodyDecoder | undefined;
  return {
    write: (chunk) => {
      if (chunk.length === 0) return;
      const hasHeader = ((chunk[0] as number) & 0x0f) === DEFLATE_METHOD;
      decoder ??= piped([makeTransform(hasHeader ? 'deflate' : RAW_DEFLATE) as Transform], out);
      decoder.write(chunk);
    },
    end: async () => decoder?.end() ?? true,
  };
};

const piped = (transforms: Transform[], out: (chunk: Buffer) => void): BodyDecoder => {
  const first = transforms[0] as Transform;
  const last = transforms.at(-1) as Transform;
  let ok = true;
  const over = new Promise<void>((resolve) => {
    last.on('end', resolve);
    for (const transform of transforms)
      transform.on('error', () => {
        ok = false;
        resolve();
      });
  });
  transforms.reduce((from, to) => from.pipe(to));
  last.on('data', out);
  return {
    write: (chunk) => {
      if (!ok) return;
      if (first.writableLength > MAX_WAITING_BYTES) {
        ok = false;
        first.destroy(new Error('decoder too slow'));
      } else first.write(chunk);
    },
    end: async () => {
      if (ok) first.end();
      await over;
      return ok;
    },
  };
};
