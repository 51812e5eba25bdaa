import type { JsonPicker } from './json-picker.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** An event longer than this is not held but read as it comes. */
const MAX_HELD_EVENT_BYTES = 64 * 1024;

/** Events are looked into from the start of the stream until one told the model, at most these many. */
const MAX_FIRST_EVENTS = 3;

/** What every event that can bear usage has in it: `"usage"`, `"usageMetadata"`; Cohere's `billed_units` stand inside such. */
const MARK = Buffer.from('"usage');
const NULL_MEMBER = /^[^"]*"\s*:\s*null/;

/**
 * Reads a stream of server-sent events for what bears usage, and holds little: bytes go through native searches, and only
 * events that carry a usage member that is not null are looked into. Since repeated usage is cumulative, of a run of such
 * events only the newest are kept, and looked into at the end.
 *
 * Takes LF and CRLF, comments, multi-line data, a byte order mark, and events cut anywhere.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class SseReader {
  readonly #pick: () => JsonPicker;
  /** True once the model is known, which the first events tell. */
  readonly #modelKnown: () => boolean;
  /** Bytes since the last event's end. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Newest events with usage, oldest first. */
  #held: Buffer[] = [];
  #eventsRead = 0;
  #big: BigEvent | undefined;

  /**
   * @param pick makes a picker for one event's data
   */
  constructor(pick: () => JsonPicker, modelKnown: () => boolean) {
    this.#pick = pick;
    this.#modelKnown = modelKnown;
  }

  write(chunk: Buffer): void {
    let rest = chunk;
    if (this.#big) {
      const end = this.#big.write(rest);
      if (end === -1) return;
      this.#big = undefined;
      rest = rest.subarray(end);
    }
    const boundary = this.#lastBoundary(rest);
    if (boundary === -1) {
      this.#keep(rest);
      return;
    }
    const whole =
      this.#pendingBytes === 0
        ? rest.subarray(0, boundary)
        : Buffer.concat([...this.#pending, rest.subarray(0, boundary)]);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#events(whole);
    if (boundary < rest.length) this.#keep(rest.subarray(boundary));
  }

  /** The stream is over: an event without its closing blank line counts if it is whole JSON. */
  end(): void {
    for (const event of this.#held) this.#read(event);
    this.#held = [];
    if (this.#pendingBytes > 0) this.#events(Buffer.concat([...this.#pending, Buffer.from('\n\n')]));
    for (const event of this.#held) this.#read(event);
    this.#held = [];
  }

  /** Index behind the last blank line of pending bytes and chunk together, in the chunk's terms; -1 when there is none. */
  #lastBoundary(chunk: Buffer): number {
    const within = Math.max(endOf(chunk.lastIndexOf('\n\n'), 2), endOf(chunk.lastIndexOf('\n\r\n'), 3));
    if (within !== -1) return within;
    // A blank line may lie across the cut: \n|\n, \n|\r\n, \n\r|\n.
    const tail = this.#tail();
    if (chunk[0] === LF && /\n\r?$/.test(tail)) return 1;
    if (chunk[0] === CR && chunk[1] === LF && tail.endsWith('\n')) return 2;
    return -1;
  }

  #tail(): string {
    let tail = '';
    for (let i = this.#pending.length - 1; i >= 0 && tail.length < 2; i--)
      tail = (this.#pending[i] as Buffer).subarray(-2).toString('latin1') + tail;
    return tail.slice(-2);
  }

  #keep(piece: Buffer): void {
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes <= MAX_HELD_EVENT_BYTES) return;
    // What was held comes before it: usage is told in order.
    for (const event of this.#held) this.#read(event);
    this.#held = [];
    this.#big = new BigEvent(this.#pick());
    for (const pending of this.#pending) this.#big.write(pending);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Whole events. Most of them are passed over by one native search. */
  #events(bytes: Buffer): void {
    let at = 0;
    while (this.#eventsRead < MAX_FIRST_EVENTS && !this.#modelKnown() && at < bytes.length) {
      const end = eventEnd(bytes, at);
      this.#read(bytes.subarray(at, end));
      this.#eventsRead++;
      at = end;
    }
    for (let mark = bytes.indexOf(MARK, at); mark !== -1; mark = bytes.indexOf(MARK, at)) {
      if (NULL_MEMBER.test(bytes.toString('latin1', mark + MARK.length, mark + MARK.length + 24))) {
        at = mark + MARK.length;
        continue;
      }
      const end = eventEnd(bytes, mark);
      this.#hold(bytes.subarray(eventStart(bytes, mark), end));
      at = end;
    }
  }

  #hold(event: Buffer): void {
    // The first with usage may be the half that later ones are laid over; a false match must not displace a true one.
    if (this.#held.length === 3) this.#held.splice(1, 1);
    this.#held.push(Buffer.from(event));
  }

  #read(event: Buffer): void {
    const big = new BigEvent(this.#pick());
    big.write(event);
  }
}

const endOf = (index: number, length: number): number => (index === -1 ? -1 : index + length);

/** Start of the event around a position: behind the blank line before it. */
const eventStart = (bytes: Buffer, at: number): number => {
  const lf = endOf(bytes.lastIndexOf('\n\n', at), 2);
  const crlf = endOf(bytes.lastIndexOf('\n\r\n', at), 3);
  return Math.max(lf, crlf, 0);
};

/** End of the event around a position: behind the blank line after it. */
const eventEnd = (bytes: Buffer, at: number): number => {
  const lf = endOf(bytes.indexOf('\n\n', at), 2);
  const crlf = endOf(bytes.indexOf('\n\r\n', at), 3);
  if (lf === -1) return crlf === -1 ? bytes.length : crlf;
  return crlf === -1 ? lf : Math.min(lf, crlf);
};

/** Feeds the data lines of one event to a picker as they come, whatever their length. */
class BigEvent {
  readonly #picker: JsonPicker;
  /** First bytes of the line, until its field name is known. */
  #line = '';
  #inData = false;
  #lineEmpty = true;

  constructor(picker: JsonPicker) {
    this.#picker = picker;
  }

  /** Returns the index behind the event's blank line, or -1 while it goes on. */
  write(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length) {
      if (this.#inData) {
        const lineEnd = chunk.indexOf(LF, at);
        this.#picker.write(chunk.subarray(at, lineEnd === -1 ? chunk.length : lineEnd));
        if (lineEnd === -1) return -1;
        at = lineEnd + 1;
        this.#newLine();
        continue;
      }
      const byte = chunk[at++] as number;
      if (byte === LF) {
        if (this.#lineEmpty) return at;
        this.#newLine();
      } else if (byte !== CR) {
        this.#lineEmpty = false;
        if (this.#line.length < 8) this.#line += String.fromCharCode(byte);
        if (this.#line === 'data:' || this.#line === '\xef\xbb\xbfdata:') this.#inData = true;
        if (this.#inData && chunk[at] === SPACE) at++;
      }
    }
    return -1;
  }

  #newLine(): void {
    this.#line = '';
    this.#inData = false;
    this.#lineEmpty = true;
  }
}
