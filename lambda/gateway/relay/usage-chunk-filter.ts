import { firstEventEnd, lastEventEnd } from '../meter/sse-framing.ts';

const USAGE = Buffer.from('"usage"');

/** A longer event is no usage chunk, and passes as it arrives without its `"usage":null`. */
const MAX_HELD_BYTES = 256 * 1024;

/** The last bytes of a longer event wait: more than the member, which may be cut, takes. */
const MAX_MEMBER_BYTES = 64;

const NULL_MEMBER = /,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?[ \t]*/;
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
  /** The last bytes of an event that is too long. */
  #held: Buffer = Buffer.alloc(0);
  #isLong = false;
  /** The long event has had its `"usage":null`. */
  #isStripped = false;

  /** Returns the bytes that may go to the client now, possibly none. */
  write(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#isLong) {
      const end = firstEventEnd(bytes, this.#held.length);
      if (end < 0) return this.#passLong(bytes);
      this.#isLong = false;
      this.#held = Buffer.alloc(0);
      return Buffer.concat([this.#strip(bytes.subarray(0, end)), this.write(bytes.subarray(end))]);
    }
    const boundary = Math.max(lastEventEnd(bytes), 0);
    const whole = bytes.subarray(0, boundary);
    const rest = bytes.subarray(boundary);
    if (rest.length > MAX_HELD_BYTES) {
      this.#isLong = true;
      this.#isStripped = false;
      return Buffer.concat([filterEvents(whole), this.#passLong(rest)]);
    }
    this.#held = rest;
    return filterEvents(whole);
  }

  /** Returns the held bytes: an event that was cut, or lacks its blank line. Called when the stream ends or is interrupted. */
  end(): Buffer {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#isLong ? held : filterEvent(held);
  }

  #passLong(bytes: Buffer): Buffer {
    const stripped = this.#strip(bytes, bytes.length - 1);
    // A member that may go on in the next chunk begins behind this.
    const from = Math.max(0, stripped.length - MAX_MEMBER_BYTES);
    this.#held = Buffer.from(stripped.subarray(from));
    return stripped.subarray(0, from);
  }

  /** Removes the null member, if it ends before `before`: behind that its comma may follow. */
  #strip(bytes: Buffer, before = bytes.length): Buffer {
    if (this.#isStripped || bytes.indexOf(USAGE) === -1) return bytes;
    const text = bytes.toString('latin1');
    const match = NULL_MEMBER.exec(text);
    if (!match || match.index + match[0].length > before) return bytes;
    this.#isStripped = true;
    return Buffer.from(text.slice(0, match.index) + text.slice(match.index + match[0].length), 'latin1');
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
