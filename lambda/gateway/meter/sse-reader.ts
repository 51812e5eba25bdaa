import { EventDataReader } from './event-data-reader.ts';
import type { JsonPicker } from './json-picker.ts';
import { CR, firstEventEnd, LF, LineEnds, lastEventEnd } from './sse-framing.ts';
import type { UsageMark } from './usage-mark.ts';

/** A longer event is not held but read as it arrives. */
const MAX_HELD_EVENT_BYTES = 64 * 1024;

/** Most events at the start of the stream that are read to find the model. Comments do not count. */
const MAX_FIRST_EVENTS = 8;
const DATA = 'data';

/** Most events with usage that are held: the first and the newest. More than two, so that a false match does not displace a true one. */
const MAX_HELD_EVENTS = 4;
/** Most of them from one chunk, in addition to the first. */
const NEWEST_PER_CHUNK = 2;

/**
 * Finds the events with usage in a stream of server-sent events. It holds little: native searches find the events that have a
 * usage member other than null, and only those are parsed. Repeated usage is cumulative, so only the first and the newest are
 * held, and parsed at the end.
 *
 * It reads LF, CRLF and CR, comments, multi-line data, and chunks cut anywhere. A byte order mark is not passed to it.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class SseReader {
  readonly #pick: () => JsonPicker;
  /** True once the model is known. */
  readonly #modelKnown: () => boolean;
  readonly #mark: UsageMark;
  readonly #lineEnds = new LineEnds();
  /** Bytes since the end of the last event. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** The last two of these bytes. */
  #lastButOne = 0;
  #last = 0;
  /** The first and the newest events with usage, oldest first. */
  #held: Buffer[] = [];
  #eventsRead = 0;
  /** Reads an event too long to be held. */
  #long: EventDataReader | undefined;

  /**
   * @param pick makes a picker for one event's data
   * @param mark a member name, or its beginning, that every event with usage contains
   */
  constructor(pick: () => JsonPicker, modelKnown: () => boolean, mark: UsageMark) {
    this.#pick = pick;
    this.#modelKnown = modelKnown;
    this.#mark = mark;
  }

  write(chunk: Buffer): void {
    let rest = this.#lineEnds.write(chunk);
    if (this.#long) {
      const end = this.#long.write(rest);
      if (end === -1) return;
      this.#long = undefined;
      rest = rest.subarray(end);
    }
    if (this.#pendingBytes > 0) {
      const end = this.#endOfPending(rest);
      if (end === -1) {
        this.#keep(rest);
        return;
      }
      this.#pending.push(rest.subarray(0, end));
      this.#takeEvents(Buffer.concat(this.#pending));
      this.#pending = [];
      this.#pendingBytes = 0;
      rest = rest.subarray(end);
    }
    const end = Math.max(lastEventEnd(rest), 0);
    if (end > 0) this.#takeEvents(rest.subarray(0, end));
    if (end < rest.length) this.#keep(rest.subarray(end));
  }

  /** Called at the end of the stream. Also reads a last event without its blank line. */
  end(): void {
    this.#readHeld();
    if (this.#pendingBytes > 0) this.#takeEvents(Buffer.concat([...this.#pending, Buffer.from('\n\n')]));
    this.#readHeld();
  }

  /** Index in the chunk after the end of the pending event; -1 if it goes on. The blank line may be cut by the chunk's start. */
  #endOfPending(chunk: Buffer): number {
    const lineEnded = this.#last === LF;
    if (chunk[0] === LF && (lineEnded || (this.#last === CR && this.#lastButOne === LF))) return 1;
    if (chunk[0] === CR && chunk[1] === LF && lineEnded) return 2;
    return firstEventEnd(chunk, 1);
  }

  #keep(piece: Buffer): void {
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    this.#lastButOne = piece.length > 1 ? (piece[piece.length - 2] as number) : this.#last;
    this.#last = piece[piece.length - 1] as number;
    if (this.#pendingBytes <= MAX_HELD_EVENT_BYTES) return;
    // Usage is read in order, so first the events held before this one.
    this.#readHeld();
    this.#long = new EventDataReader(this.#pick());
    for (const pending of this.#pending) this.#long.write(pending);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Reads or holds whole events. One native search skips most of them. */
  #takeEvents(bytes: Buffer): void {
    let from = 0;
    while (this.#eventsRead < MAX_FIRST_EVENTS && !this.#modelKnown() && from < bytes.length) {
      const end = eventEnd(bytes, from);
      const event = bytes.subarray(from, end);
      if (event.includes(DATA)) {
        this.#read(event);
        this.#eventsRead++;
      }
      from = end;
    }
    const firstMark = this.#mark.next(bytes, from);
    if (firstMark === -1) return;
    if (this.#mark.isNull(bytes, firstMark) && !this.#mark.hasValue(bytes, firstMark - 1)) return;
    if (this.#held.length === 0) {
      from = this.#holdFirst(bytes, firstMark);
      if (from === -1) return;
    }
    this.#holdNewest(bytes, from);
  }

  /** Holds the first event with usage. Returns the index after it; -1 if there is none. */
  #holdFirst(bytes: Buffer, firstMark: number): number {
    for (let mark = firstMark; mark !== -1; mark = this.#mark.next(bytes, mark + 1)) {
      if (this.#mark.isNull(bytes, mark)) continue;
      const end = eventEnd(bytes, mark);
      this.#hold(bytes.subarray(Math.max(lastEventEnd(bytes, mark), 0), end));
      return end;
    }
    return -1;
  }

  /** Holds the newest events with usage. Searches from the end, so that the others cost nothing. */
  #holdNewest(bytes: Buffer, from: number): void {
    const newest: Buffer[] = [];
    let before = bytes.length;
    while (newest.length < NEWEST_PER_CHUNK && before > from) {
      const mark = this.#mark.previous(bytes, before);
      if (mark < from) break;
      if (this.#mark.isNull(bytes, mark)) {
        before = mark;
        continue;
      }
      const start = Math.max(lastEventEnd(bytes, mark), 0);
      newest.unshift(bytes.subarray(start, eventEnd(bytes, mark)));
      before = start;
    }
    for (const event of newest) this.#hold(event);
  }

  #hold(event: Buffer): void {
    if (this.#held.length === MAX_HELD_EVENTS) this.#held.splice(1, 1);
    // A copy, because the event would keep the whole chunk in memory.
    this.#held.push(Buffer.from(event));
  }

  #readHeld(): void {
    for (const event of this.#held) this.#read(event);
    this.#held = [];
  }

  #read(event: Buffer): void {
    new EventDataReader(this.#pick()).write(event);
  }
}

const eventEnd = (bytes: Buffer, from: number): number => {
  const end = firstEventEnd(bytes, from);
  return end === -1 ? bytes.length : end;
};
