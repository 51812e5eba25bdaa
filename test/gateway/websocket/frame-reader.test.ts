import { randomBytes } from 'node:crypto';
import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Compression, compressionOf, FrameReader } from '../../../lambda/gateway/websocket/frame-reader.ts';

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly fin?: boolean;
  readonly rsv1?: boolean;
  readonly mask?: Buffer | undefined;
}

const frame = ({ opcode, payload, fin = true, rsv1 = false, mask }: Frame): Buffer => {
  const length = payload.length;
  const head = Buffer.alloc(length > 0xffff ? 10 : length > 125 ? 4 : 2);
  head[0] = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode;
  head[1] = (mask ? 0x80 : 0) | (length > 0xffff ? 127 : length > 125 ? 126 : length);
  if (length > 0xffff) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length > 125) head.writeUInt16BE(length, 2);
  if (!mask) return Buffer.concat([head, payload]);
  return Buffer.concat([head, mask, Buffer.from(payload.map((byte, i) => byte ^ (mask[i & 3] as number)))]);
};

const TEXT = 1;
const CLOSE = 8;
const PING = 9;

/** A message in as many frames as it has parts, with a ping between two. */
const message = (parts: readonly Buffer[], rsv1: boolean, mask?: Buffer): Buffer =>
  Buffer.concat(
    parts.flatMap((payload, i) => [
      ...(i > 0 ? [frame({ opcode: PING, payload: Buffer.from('ping'), mask })] : []),
      frame({ opcode: i === 0 ? TEXT : 0, payload, fin: i === parts.length - 1, rsv1: rsv1 && i === 0, mask }),
    ]),
  );

/** @param isSlow each chunk is read before the next comes */
const read = async (chunks: readonly Buffer[], compression: Compression | null = null, isSlow = false) => {
  const messages: string[] = [];
  let current: Buffer[] = [];
  const seen = { closes: 0, unreadable: 0 };
  const reader = new FrameReader(compression, {
    messages: {
      onData: (chunk) => current.push(Buffer.from(chunk)),
      onMessageEnd: () => {
        messages.push(Buffer.concat(current).toString());
        current = [];
      },
    },
    onClose: () => {
      seen.closes += 1;
    },
    onUnreadable: () => {
      seen.unreadable += 1;
    },
  });
  for (const chunk of chunks) {
    reader.write(chunk);
    if (isSlow) await reader.drained();
  }
  await reader.drained();
  return { messages, ...seen };
};

const cut = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
};

const parts = (text: string, pieces: number): Buffer[] => {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / pieces) || 1;
  return Array.from({ length: pieces }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
};

/** Deflates messages one after another in one context, without the tail. */
const deflated = async (texts: readonly string[], keepsContext: boolean): Promise<Buffer[]> => {
  if (!keepsContext)
    return texts.map((text) => deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4));
  const deflate = createDeflateRaw();
  const results: Buffer[] = [];
  for (const text of texts) {
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
    };
    deflate.on('data', take);
    deflate.write(text);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    deflate.off('data', take);
    results.push(Buffer.concat(chunks).subarray(0, -4));
  }
  return results;
};

describe('frames', () => {
  it('give the messages in them, however they are cut, fragmented, masked and compressed', async () => {
    const text = fc.oneof(fc.string({ maxLength: 300 }), fc.constantFrom('', 'x'.repeat(126), 'yz'.repeat(40_000)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text, pieces: fc.integer({ min: 1, max: 4 }), isCompressed: fc.boolean() }), {
          maxLength: 6,
        }),
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 }), { nil: undefined }),
        async (sent, sizes, keepsContext, mask) => {
          const compressed = await deflated(
            sent.filter(({ isCompressed }) => isCompressed).map((each) => each.text),
            keepsContext,
          );
          const masking = mask && Buffer.from(mask);
          const bytes = sent.map(({ text: plain, pieces, isCompressed }) => {
            if (!isCompressed) return message(parts(plain, pieces), false, masking);
            const payload = compressed.shift() as Buffer;
            const size = Math.ceil(payload.length / pieces);
            const pieced = Array.from({ length: pieces }, (_, i) => payload.subarray(i * size, (i + 1) * size));
            return message(pieced, true, masking);
          });
          bytes.push(frame({ opcode: CLOSE, payload: Buffer.from([0x03, 0xe8]), mask: masking }));
          const whole = Buffer.concat(bytes);
          // The reader gives up where some 65,000 pieces wait, as they do here, where nothing lets it work between them.
          const leastSize = Math.ceil(whole.length / 30_000);
          const chunks = cut(
            whole,
            sizes.map((size) => Math.max(size, leastSize)),
          );
          expect(await read(chunks, { keepsContext })).toEqual({
            messages: sent.map((each) => Buffer.from(each.text).toString()),
            closes: 1,
            unreadable: 0,
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('show the Close frame behind messages that nobody needs, without reading these', () => {
    let closes = 0;
    const reader = new FrameReader(
      { keepsContext: true },
      {
        messages: undefined,
        onClose: () => {
          closes += 1;
        },
        onUnreadable: () => {
          throw new Error('unreadable');
        },
      },
    );
    reader.write(message([Buffer.from('not'), Buffer.from('deflated')], true, Buffer.from('mask')));
    expect(closes).toBe(0);
    reader.write(frame({ opcode: CLOSE, payload: Buffer.alloc(0) }));
    expect(closes).toBe(1);
  });

  it.each([
    ['a reserved bit', Buffer.from([0x91, 0x00])],
    ['a reserved opcode', Buffer.from([0x83, 0x00])],
    ['compression that was not agreed on', Buffer.from([0xc1, 0x01, 0x41])],
    ['a continuation of nothing', Buffer.from([0x80, 0x01, 0x41])],
    ['a message within a message', Buffer.concat([Buffer.from([0x01, 0x01, 0x41]), Buffer.from([0x81, 0x01, 0x41])])],
    ['a length past all reason', Buffer.from([0x81, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ])('with %s are unreadable, and so is what follows', async (_name, bytes) => {
    const rest = frame({ opcode: TEXT, payload: Buffer.from('late') });
    expect(await read([bytes, rest])).toEqual({ messages: [], closes: 0, unreadable: 1 });
  });

  it('that do not inflate are unreadable', async () => {
    const bytes = frame({ opcode: TEXT, payload: Buffer.from([0xff, 0xff, 0xff]), rsv1: true });
    expect(await read([bytes], { keepsContext: true })).toEqual({ messages: [], closes: 0, unreadable: 1 });
  });

  it('that inflate to more than 64 MB are unreadable', async () => {
    const bomb = deflateRawSync(Buffer.alloc(70 * 2 ** 20)).subarray(0, -4);
    const { messages, unreadable } = await read([frame({ opcode: TEXT, payload: bomb, rsv1: true })], {
      keepsContext: true,
    });
    expect([messages, unreadable]).toEqual([[], 1]);
  });

  it('may be as many and as long as they like, one after the other', async () => {
    const payload = deflateRawSync(Buffer.concat([randomBytes(2 ** 20), Buffer.alloc(4 * 2 ** 20)])).subarray(0, -4);
    const all = Array(18).fill(frame({ opcode: TEXT, payload, rsv1: true }));
    const { messages, unreadable } = await read(all, { keepsContext: true }, true);
    expect([messages.length, unreadable]).toEqual([18, 0]);
  });

  it('give up on frames without bytes of which too many wait for zlib', async () => {
    const payload = deflateRawSync(Buffer.alloc(1_000)).subarray(0, -4);
    const empty = frame({ opcode: 0, payload: Buffer.alloc(0), fin: false });
    const bytes = [frame({ opcode: TEXT, payload, fin: false, rsv1: true }), ...Array(100_000).fill(empty)];
    expect(await read([Buffer.concat(bytes)], { keepsContext: true })).toMatchObject({ unreadable: 1 });
  });

  it('give up when more compressed bytes wait than zlib can take', async () => {
    const payload = deflateRawSync(Buffer.alloc(1_000)).subarray(0, -4);
    const one = frame({ opcode: TEXT, payload: Buffer.concat([payload, Buffer.alloc(2 ** 20)]), rsv1: true });
    expect(await read(Array(18).fill(one), { keepsContext: true })).toMatchObject({ unreadable: 1 });
  });
});

it.each([
  [undefined, null, null],
  ['permessage-deflate', true, true],
  ['permessage-deflate; server_no_context_takeover; client_max_window_bits=15', false, true],
  ['Permessage-Deflate; client_no_context_takeover', true, false],
  ['x-webkit-deflate-frame', undefined, undefined],
  ['permessage-deflate, x-other', undefined, undefined],
])('understands the extensions %p', (header, server, client) => {
  const keeps = (side: 'client' | 'server') => {
    const compression = compressionOf(header, side);
    return compression ? compression.keepsContext : compression;
  };
  expect([keeps('server'), keeps('client')]).toEqual([server, client]);
});
