import { firstEventEnd, lastEventEnd } from '../meter/sse-framing.ts';

const USAGE = Buffer.from('"usage"');

/** A longer event is not a usage chunk and passes unchanged. */
const MAX_HELD_BYTES = 256 * 1024;

const NULL_MEMBER = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;
const USAGE_OBJECT = /"usage"\s*:\s*\{/;

/**
 * Removes from an OpenAI-style stream what `include_usage` adds: the last chunk, which has usage and no choices, and
 * `"usage":null` in all others. The client sees the stream that it asked for.
 *
 * Whole events pass at once. An incomplete event is held until its blank line, because no client can act on it before that.
 * Bytes without `"usage"` pass without a copy.
 */
export class UsageChunkFilter {
  #held: Buffer = Buffer.alloc(0);
  /** The last two bytes passed of an event that is too long to hold; undefined outside such an event. */
  #passing: Buffer | undefined;

  /** Returns the bytes that may go to the client now, possibly none. */
  write(chunk: Buffer): Buffer {
    if (this.#passing) {
      const end = firstEventEnd(Buffer.concat([this.#passing, chunk]), this.#passing.length) - this.#passing.length;
      if (end < 0) {
        this.#passing = Buffer.concat([this.#passing, chunk]).subarray(-2);
        return chunk;
      }
      this.#passing = undefined;
      const rest = this.write(chunk.subarray(end));
      return Buffer.concat([chunk.subarray(0, end), rest]);
    }
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const boundary = Math.max(lastEventEnd(bytes), 0);
    const whole = bytes.subarray(0, boundary);
    const rest = bytes.subarray(boundary);
    if (rest.length > MAX_HELD_BYTES) {
      this.#passing = rest.subarray(-2);
      this.#held = Buffer.alloc(0);
      return Buffer.concat([filterEvents(whole), rest]);
    }
    this.#held = rest;
    return filterEvents(whole);
  }

  /** Returns the held bytes, unchanged. Called when the stream ends or is interrupted. */
  end(): Buffer {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return held;
  }
}

const filterEvents = (bytes: Buffer): Buffer => {
  if (bytes.indexOf(USAGE) === -1) return bytes;
  const kept: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = firstEventEnd(bytes, at);
    const event = bytes.subarray(at, end);
    if (event.indexOf(USAGE) === -1) kept.push(event);
    else kept.push(filterEvent(event));
    at = end;
  }
  return Buffer.concat(kept);
};

/** Quotes within strings are escaped, so `"usage"` before a colon is a member. latin1 keeps every byte. */
const filterEvent = (event: Buffer): Buffer => {
  const text = event.toString('latin1');
  if (NO_CHOICES.test(text) && USAGE_OBJECT.test(text)) return Buffer.alloc(0);
  const without = text.replace(NULL_MEMBER, '');
  return without === text ? event : Buffer.from(without, 'latin1');
};
