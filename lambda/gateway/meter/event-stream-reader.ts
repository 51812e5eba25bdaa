import { at } from '../../domain/usage/raw.ts';
import { type JsonPicker, parsed } from './json-picker.ts';

/** Length and length of the headers, their checksum; and the checksum at the end. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/** A longer message is skipped: usage is in short ones. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Names of the headers of a message that ends the stream as an error. */
const ERRORS = [':exception-type', ':error-code'];
const USAGE = '"usage"';
const BYTES = '"bytes"';

/**
 * Reads usage from a stream of binary messages, each with headers and a payload of JSON, cut into chunks anywhere. A payload
 * `{"bytes": …}` contains an event of the model's own format in base64. Checksums are the client's to check.
 *
 * @see https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream (`application/vnd.amazon.eventstream`)
 */
export class EventStreamReader {
  readonly #pick: () => JsonPicker;
  readonly #markInterrupted: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The next message has at least this. */
  #needed = PRELUDE_BYTES;
  /** Bytes left of a message that is too long. */
  #skipped = 0;
  #isBroken = false;

  /**
   * @param pick makes a picker for one event
   * @param markInterrupted called for a stream that an error ends, or that ends within a message
   */
  constructor(pick: () => JsonPicker, markInterrupted: () => void) {
    this.#pick = pick;
    this.#markInterrupted = markInterrupted;
  }

  write(chunk: Buffer): void {
    if (this.#isBroken) return;
    const skipped = Math.min(this.#skipped, chunk.length);
    this.#skipped -= skipped;
    if (skipped === chunk.length) return;
    this.#parts.push(skipped === 0 ? chunk : chunk.subarray(skipped));
    this.#bytes += chunk.length - skipped;
    if (this.#bytes >= this.#needed) this.#readMessages(Buffer.concat(this.#parts));
  }

  end(): void {
    if (this.#isBroken || this.#bytes > 0 || this.#skipped > 0) this.#markInterrupted();
  }

  #readMessages(bytes: Buffer): void {
    let from = 0;
    this.#needed = PRELUDE_BYTES;
    while (bytes.length - from >= PRELUDE_BYTES) {
      const length = bytes.readUInt32BE(from);
      const payload = from + PRELUDE_BYTES + bytes.readUInt32BE(from + 4);
      if (payload + CHECKSUM_BYTES > from + length) {
        this.#isBroken = true;
        break;
      }
      if (length > MAX_MESSAGE_BYTES) {
        this.#skipped = Math.max(from + length - bytes.length, 0);
        from = Math.min(from + length, bytes.length);
        continue;
      }
      if (bytes.length - from < length) {
        this.#needed = length;
        break;
      }
      this.#read(
        bytes.subarray(from + PRELUDE_BYTES, payload),
        bytes.subarray(payload, from + length - CHECKSUM_BYTES),
      );
      from += length;
    }
    this.#bytes = this.#isBroken ? 0 : bytes.length - from;
    this.#parts = this.#bytes === 0 ? [] : [bytes.subarray(from)];
  }

  #read(headers: Buffer, payload: Buffer): void {
    if (ERRORS.some((name) => headers.includes(name))) {
      this.#markInterrupted();
      return;
    }
    const event = payload.includes(BYTES) ? eventIn(payload) : payload;
    // `usage`, or the metrics of an invocation.
    if (event.includes(USAGE) || event.includes('invocationMetrics')) this.#pick().write(event);
  }
}

/** The event in a payload; the payload itself where it has none. */
const eventIn = (payload: Buffer): Buffer => {
  const bytes = at(parsed(payload.toString()), 'bytes');
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : payload;
};
