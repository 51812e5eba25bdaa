import { firstEventEnd, lastEventEnd } from '../meter/sse-framing.ts';

const USAGE = Buffer.from('"usage"');

/** An event longer than this is no usage chunk, and passes as it is. */
const MAX_HELD_BYTES = 256 * 1024;

const NULL_MEMBER = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/;
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;
const USAGE_OBJECT = /"usage"\s*:\s*\{/;

/**
 * Takes out of an OpenAI-style stream what `include_usage` added to it: the last chunk, which has usage and no choices, and
 * the `"usage":null` of all others. The client sees what it would have seen.
 *
 * Whole events pass as they come. Of an event that is cut, what has come is held until the rest does: before its blank line
 * no client can act on it. Bytes without `"usage"` in them are passed on without a copy.
 */
export class UsageChunkFilter {
  #held: Buffer = Buffer.alloc(0);
  /** The last two bytes passed of an event too long to be a usage chunk; undefined outside such an event. */
  #passing: Buffer | undefined;

  /** The bytes that may go to the client now; possibly none. */
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

  /** What is held when the stream ends or breaks off: passed on as it is. */
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

/** Within strings quotes are escaped: an unescaped `"usage"` before a colon is a member. latin1 keeps every byte. */
const filterEvent = (event: Buffer): Buffer => {
  const text = event.toString('latin1');
  if (NO_CHOICES.test(text) && USAGE_OBJECT.test(text)) return Buffer.alloc(0);
  const without = text.replace(NULL_MEMBER, '');
  return without === text ? event : Buffer.from(without, 'latin1');
};
