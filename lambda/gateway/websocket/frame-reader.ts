import type { InflateRaw } from 'node:zlib';
import { MAX_WAITING_BYTES, PIECE_BYTES } from '../meter/decoder.ts';

/*
 * Reads the messages in a copy of one side's bytes. The connection itself passes bytes and never depends on this reader.
 * @see https://www.rfc-editor.org/rfc/rfc6455#section-5.2 https://www.rfc-editor.org/rfc/rfc7692#section-7.2
 */

/** Takes the parts of messages, text and binary alike, decompressed and in their order. */
export interface MessageListener {
  /** Valid during the call. */
  onData(chunk: Buffer): void;
  onMessageEnd(): void;
}

export interface SideListener {
  /** Undefined when nobody needs the messages any more: then their payloads are skipped. */
  readonly messages: MessageListener | undefined;
  /** The side has sent a Close frame. */
  onClose(): void;
  /** The rest of the side's frames cannot be read. Called at most once; nothing follows. */
  onUnreadable(): void;
}

/** How a side compresses its messages. */
export interface Compression {
  /** A message continues the compression context of the one before it. */
  readonly keepsContext: boolean;
}

/** Longest message, decompressed: no provider sends more, and a bomb soon reaches it. Longer uncompressed ones cost nothing and are read. */
const MAX_INFLATED_BYTES = 64 * 2 ** 20;

const CONTINUATION = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PONG = 0xa;

const MAX_HEADER_BYTES = 14;
/** The end of a deflated message, which the sender leaves out. */
const DEFLATE_TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/**
 * Agreement of a handshake's Sec-WebSocket-Extensions on messages of a side.
 *
 * @param header of the provider's response
 * @returns null for no compression; undefined for an extension that this reader does not know
 */
export const compressionOf = (
  header: string | undefined,
  side: 'client' | 'server',
): Compression | null | undefined => {
  if (header === undefined || header.trim() === '') return null;
  const [name, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  if (name !== 'permessage-deflate' || header.includes(',')) return undefined;
  return { keepsContext: !parameters.includes(`${side}_no_context_takeover`) };
};

interface Piece {
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
  readonly isLast: boolean;
}

/** Reads frames from bytes cut anywhere. It holds no frame, so a frame may have any length. */
export class FrameReader {
  readonly #compression: Compression | null;
  readonly #listener: SideListener;
  readonly #header = Buffer.alloc(MAX_HEADER_BYTES);
  #headerBytes = 0;
  /** Rest of the current frame's payload. */
  #remainingBytes = 0;
  #inPayload = false;
  #opcode = CONTINUATION;
  #isFinal = false;
  #maskAt = -1;
  #maskedBytes = 0;
  #inMessage = false;
  #isCompressed = false;
  #isOver = false;

  /** Pieces that wait while zlib works on an earlier piece. */
  #waiting: Piece[] = [];
  #waitingBytes = 0;
  #isInflating = false;
  #inflater: InflateRaw | undefined;
  #inflatedBytes = 0;
  #onIdle: (() => void) | undefined;

  constructor(compression: Compression | null, listener: SideListener) {
    this.#compression = compression;
    this.#listener = listener;
  }

  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#isOver) {
      if (this.#inPayload) {
        const end = Math.min(chunk.length, at + this.#remainingBytes);
        this.#takePayload(chunk.subarray(at, end));
        at = end;
      } else {
        this.#header[this.#headerBytes++] = chunk[at++] as number;
        if (this.#headerBytes === this.#headerLength()) this.#beginFrame();
      }
    }
  }

  /** False where a frame of the gateway may follow the bytes so far; undefined where that is not known. */
  get isWithinFrame(): boolean | undefined {
    return this.#isOver ? undefined : this.#inPayload || this.#headerBytes > 0;
  }

  /** Resolves when every message so far has been passed on. */
  async drained(): Promise<void> {
    if (this.#isInflating)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    this.#inflater?.close();
    this.#inflater = undefined;
  }

  #headerLength(): number {
    if (this.#headerBytes < 2) return 2;
    const second = this.#header[1] as number;
    const length = second & 0x7f;
    return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + (second & 0x80 ? 4 : 0);
  }

  #beginFrame(): void {
    const header = this.#header;
    const first = header[0] as number;
    const second = header[1] as number;
    const short = second & 0x7f;
    const length = short === 127 ? Number(header.readBigUInt64BE(2)) : short === 126 ? header.readUInt16BE(2) : short;
    this.#maskAt = second & 0x80 ? this.#headerBytes - 4 : -1;
    this.#maskedBytes = 0;
    this.#headerBytes = 0;
    this.#remainingBytes = length;
    this.#opcode = first & 0x0f;
    this.#isFinal = (first & 0x80) !== 0;
    const isControl = this.#opcode >= CLOSE;
    const isCompressed = (first & 0x40) !== 0;
    const isKnown = this.#opcode <= BINARY || (isControl && this.#opcode <= PONG);
    const isInOrder = isControl || this.#inMessage === (this.#opcode === CONTINUATION);
    const mayBeCompressed = this.#compression !== null && (this.#opcode === TEXT || this.#opcode === BINARY);
    if (!isKnown || !isInOrder || first & 0x30 || (isCompressed && !mayBeCompressed) || !Number.isSafeInteger(length)) {
      this.#giveUp();
      return;
    }
    if (!isControl && this.#opcode !== CONTINUATION) {
      this.#inMessage = true;
      this.#isCompressed = isCompressed;
    }
    this.#inPayload = true;
    if (length === 0) this.#takePayload(header.subarray(0, 0));
  }

  #takePayload(bytes: Buffer): void {
    this.#remainingBytes -= bytes.length;
    const isFrameEnd = this.#remainingBytes === 0;
    if (isFrameEnd) this.#inPayload = false;
    if (this.#opcode >= CLOSE) {
      if (isFrameEnd && this.#opcode === CLOSE) this.#listener.onClose();
      return;
    }
    const isLast = isFrameEnd && this.#isFinal;
    if (isLast) this.#inMessage = false;
    if (this.#listener.messages === undefined) return;
    this.#take({ bytes: this.#unmasked(bytes), isCompressed: this.#isCompressed, isLast });
  }

  #unmasked(bytes: Buffer): Buffer {
    if (this.#maskAt === -1) return bytes;
    const result = Buffer.from(bytes);
    for (let i = 0; i < result.length; i++)
      result[i] = (result[i] as number) ^ (this.#header[this.#maskAt + (this.#maskedBytes++ & 3)] as number);
    return result;
  }

  #take(piece: Piece): void {
    if (!piece.isCompressed && !this.#isInflating) {
      this.#passOn(piece);
      return;
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.bytes.length + PIECE_BYTES;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#giveUp();
    else if (!this.#isInflating) this.#takeWaiting();
  }

  #passOn({ bytes, isLast }: Piece): void {
    if (bytes.length > 0) this.#listener.messages?.onData(bytes);
    if (isLast) this.#listener.messages?.onMessageEnd();
  }

  #takeWaiting(): void {
    for (let piece = this.#waiting.shift(); piece; piece = this.#waiting.shift()) {
      this.#waitingBytes -= piece.bytes.length + PIECE_BYTES;
      if (piece.isCompressed) {
        this.#inflate(piece);
        return;
      }
      this.#passOn(piece);
    }
    this.#isInflating = false;
    this.#onIdle?.();
  }

  #inflate({ bytes, isLast }: Piece): void {
    this.#isInflating = true;
    this.#inflater ??= this.#newInflater();
    const inflater = this.#inflater;
    inflater.write(bytes);
    if (isLast) inflater.write(DEFLATE_TAIL);
    inflater.flush(() => {
      if (this.#isOver) return;
      // A sender may also end the context with the message.
      if (inflater.readableEnded || (isLast && this.#compression?.keepsContext === false)) {
        inflater.close();
        this.#inflater = undefined;
      }
      if (isLast) {
        this.#inflatedBytes = 0;
        this.#listener.messages?.onMessageEnd();
      }
      this.#takeWaiting();
    });
  }

  /** Loads zlib with the first compressed message. */
  #newInflater(): InflateRaw {
    const inflater = process.getBuiltinModule('node:zlib').createInflateRaw();
    inflater.on('data', (chunk: Buffer) => {
      if (this.#isOver) return;
      this.#inflatedBytes += chunk.length;
      if (this.#inflatedBytes > MAX_INFLATED_BYTES) this.#giveUp();
      else this.#listener.messages?.onData(chunk);
    });
    inflater.on('error', () => this.#giveUp());
    return inflater;
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#isInflating = false;
    this.#inflater?.destroy();
    this.#inflater = undefined;
    this.#listener.onUnreadable();
    this.#onIdle?.();
  }
}
