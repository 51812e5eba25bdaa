import type { JsonPicker } from './json-picker.ts';
import { CR, LF } from './sse-framing.ts';

const SPACE = 0x20;

const DATA = 'data:';

/** Passes the data lines of one event to a picker as they arrive, whatever their length. */
export class EventDataReader {
  readonly #picker: JsonPicker;
  /** First bytes of the line, until its field name is known. */
  #line = '';
  #inData = false;
  /** Blank lines before the first field end no event. */
  #hasBegun = false;

  constructor(picker: JsonPicker) {
    this.#picker = picker;
  }

  /** Returns the index after the event's blank line; -1 if the event goes on. */
  write(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length) {
      if (this.#inData) {
        const lineEnd = chunk.indexOf(LF, at);
        this.#picker.write(chunk.subarray(at, lineEnd === -1 ? chunk.length : lineEnd));
        if (lineEnd === -1) return -1;
        at = lineEnd + 1;
        this.#inData = false;
        continue;
      }
      const byte = chunk[at++] as number;
      if (byte === LF) {
        if (this.#line === '' && this.#hasBegun) return at;
        this.#line = '';
      } else if (byte !== CR) {
        this.#hasBegun = true;
        if (this.#line.length < DATA.length) this.#line += String.fromCharCode(byte);
        if (this.#line === DATA) {
          this.#inData = true;
          this.#line = '';
          if (chunk[at] === SPACE) at++;
        }
      }
    }
    return -1;
  }
}
