import type { Dialect } from '../../domain/usage/dialect.ts';
import type { Reading } from '../../domain/usage/usage-event.ts';
import { JsonPicker, type PickerSink, unescaped } from './json-picker.ts';
import { wantedOutput } from './wanted.ts';

/** Words, runs of up to three digits, East Asian characters, words of other scripts, line ends, runs of marks. */
const PIECE =
  /[A-Za-z]+|\d{1,3}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\P{L}A-Za-z\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\n+|[^\p{L}\p{N}\s]+/gu;

const ASCII_WORD = /^[A-Za-z]/;
const DIGITS_OR_LINES = /^[\d\n]/;
const OTHER_WORD = /^[^\P{L}\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;

/** Up to how many characters a word is one piece, and from how many on it is no word: a hash, or base64. */
const USUAL_WORD_CHARACTERS = 6;
const LONGEST_WORD_CHARACTERS = 16;
const PIECES_PER_FURTHER_CHARACTER = 0.05;
const PIECES_PER_CHARACTER_OF_NO_WORD = 0.25;
const PIECES_PER_NUMBER = 1.1;
const BYTES_PER_PIECE_OF_OTHER_WORDS = 6.7;

/**
 * How many tokens a text has, about: tokenizers cut at words, numbers and marks before they do anything else. Families of models differ by a
 * factor near 1 (`tokensPerPiece`). The numbers fit recorded responses: see docs/metering.md.
 */
export const piecesOf = (text: string): number => {
  let pieces = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    if (ASCII_WORD.test(piece)) {
      const further = Math.max(0, Math.min(piece.length, LONGEST_WORD_CHARACTERS) - USUAL_WORD_CHARACTERS);
      const noWord = Math.max(0, piece.length - LONGEST_WORD_CHARACTERS);
      pieces += 1 + PIECES_PER_FURTHER_CHARACTER * further + PIECES_PER_CHARACTER_OF_NO_WORD * noWord;
    } else if (DIGITS_OR_LINES.test(piece)) pieces += PIECES_PER_NUMBER;
    else if (OTHER_WORD.test(piece)) pieces += Buffer.byteLength(piece) / BYTES_PER_PIECE_OF_OTHER_WORDS;
    else pieces += 1;
  }
  return pieces;
};

type Visible = NonNullable<Reading['visible']>;

/**
 * Bytes of a response that are kept until its end, in case it reports no usage: then its tokens are estimated from what the client got. The
 * rest is extrapolated.
 */
const MAX_KEPT_BYTES = 64 * 1024;

/** Dialects whose responses have text. */
const dialectsWithText: ReadonlySet<Dialect> = new Set([
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini-generate',
  'cohere-chat',
  'cohere-generate',
]);

/** The first event of OpenAI's Responses API that shows output. Those before it repeat the instructions and the tools. */
const FIRST_ITEM = 'response.output_item.added';

/** As long as the beginning of a line that has it, however the chunks are cut. */
const TAIL_BYTES = 64;

const LINE_END = 0x0a;
const OTHER_FIELD = /^(?:event|id|retry)?:/;

/**
 * Keeps the first bytes of a response for an estimate, and counts all of them. In one buffer: the events of a stream are small, and a buffer
 * for each would take several times its size.
 */
export class VisibleOutput {
  readonly #isKept: boolean;
  /** Nothing is kept until it comes. */
  #awaited: string | null;
  /** The end of what came before. */
  #tail: Buffer = Buffer.alloc(0);
  #kept: Buffer | undefined;
  #keptBytes = 0;
  #totalBytes = 0;

  constructor(dialect: Dialect) {
    this.#isKept = dialectsWithText.has(dialect);
    this.#awaited = dialect === 'openai-responses' ? FIRST_ITEM : null;
  }

  write(chunk: Buffer): void {
    if (!this.#isKept) return;
    let piece = chunk;
    if (this.#awaited !== null) {
      const read = Buffer.concat([this.#tail, chunk]);
      const found = read.indexOf(this.#awaited);
      if (found === -1) {
        this.#tail = Buffer.from(read.subarray(-TAIL_BYTES));
        return;
      }
      piece = read.subarray(read.lastIndexOf(LINE_END, found) + 1);
      this.#awaited = null;
    }
    this.#totalBytes += piece.length;
    if (this.#keptBytes >= MAX_KEPT_BYTES) return;
    if (!this.#kept) {
      this.#kept = piece.subarray(0, MAX_KEPT_BYTES);
      this.#keptBytes = this.#kept.length;
      return;
    }
    const bytes = Math.min(piece.length, MAX_KEPT_BYTES - this.#keptBytes);
    this.#withRoomFor(bytes, this.#kept).set(piece.subarray(0, bytes), this.#keptBytes);
    this.#keptBytes += bytes;
  }

  #withRoomFor(bytes: number, kept: Buffer): Buffer {
    const wanted = this.#keptBytes + bytes;
    if (wanted <= kept.length) return kept;
    this.#kept = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, 2 * kept.length), MAX_KEPT_BYTES));
    this.#kept.set(kept);
    return this.#kept;
  }

  /** Sizes of the output; null if there is none, or the dialect has no known text. */
  count(): Pick<Visible, 'output' | 'outputBytes'> | null {
    if (!this.#kept) return null;
    const output = new OutputCounter();
    const picker = new JsonPicker(wantedOutput, output, MAX_KEPT_BYTES);
    let firstByte = -1;
    for (let from = 0; from < this.#keptBytes; ) {
      const found = this.#kept.indexOf(LINE_END, from);
      const end = found === -1 ? this.#keptBytes : Math.min(found, this.#keptBytes);
      const field = this.#kept.toString('latin1', from, Math.min(end, from + 'event:'.length));
      // The picker passes over `data:`, which is no JSON.
      if (!OTHER_FIELD.test(field)) picker.write(this.#kept.subarray(from, end));
      if (firstByte === -1 && output.hasAny) firstByte = from;
      from = end + 1;
    }
    // A string that was cut counts as far as it goes: one quote may be escaped, the other ends it.
    picker.write(Buffer.from('""'));
    output.documentEnd();
    if (!output.hasAny) return null;
    const head = Math.max(firstByte, 0);
    return output.sizes((this.#totalBytes - head) / (this.#keptBytes - head));
  }
}

/** Adds up the output of a response's documents. */
class OutputCounter implements PickerSink {
  #bytes = 0;
  #pieces = 0;
  #thinkingPieces = 0;
  #calls = 0;
  #hiddenBytes = 0;
  #hiddenParts = 0;
  /** The values of the current document, in order; of a part of it, once its end shows what they are. */
  #values: { name: string; text: string }[] = [];

  /** Perplexity's and Together's streams have the text of a delta a second time. */
  #hasDeltas = false;
  #isRepeat = false;

  get hasAny(): boolean {
    return this.#bytes > 0 || this.#calls > 0;
  }

  value(name: string, json: string): void {
    if (name === '#delta') this.#hasDeltas = true;
    else if (name === '#part') this.#takePart();
    else if (name === '#whole') {
      this.#takePart();
      this.#isRepeat = this.#hasDeltas;
    } else if (json !== 'null')
      this.#values.push({ name, text: json.startsWith('"') ? unescaped(json.slice(1, -1)) : json });
  }

  measured(name: string, _bytes: number, head: Buffer): void {
    this.#values.push({ name, text: unescaped(head.toString('utf8')) });
  }

  tooLong(): void {}

  documentEnd(): void {
    this.#takePart();
    this.#isRepeat = false;
  }

  sizes(factor: number): Pick<Visible, 'output' | 'outputBytes'> {
    const scaled = (count: number): number => Math.ceil(count * factor);
    return {
      outputBytes: scaled(this.#bytes),
      output: {
        pieces: scaled(this.#pieces),
        thinkingPieces: scaled(this.#thinkingPieces),
        calls: scaled(this.#calls),
        hiddenBytes: scaled(this.#hiddenBytes),
        hiddenParts: scaled(this.#hiddenParts),
      },
    };
  }

  #takePart(): void {
    const values = this.#values;
    this.#values = [];
    if (this.#isRepeat) return;
    const first = (wanted: string) => values.find(({ name }) => name === wanted)?.text;
    const type = first('type') ?? '';
    const isThought = first('thought') === 'true';
    // Some servers send the same text under both names.
    const isRepeated = first('reasoning') !== undefined;
    for (const { name, text } of values) {
      // The ends of OpenAI's parts repeat their text.
      if (name === 'text' && !type.startsWith('response.')) this.#add(text, isThought);
      else if (name === 'completion' && !this.#hasDeltas) this.#add(text, false);
      else if (name === 'delta') this.#add(text, type.includes('reasoning'));
      else if (name === 'thinking' || name === 'reasoning') this.#add(text, true);
      else if (name === 'reasoning_content' && !isRepeated) this.#add(text, true);
      else if (name === 'arguments') this.#add(text, false);
      else if (name === 'call' && text !== '' && type !== 'response.output_item.done') {
        this.#calls++;
        this.#add(text, false);
      } else if (name === 'hidden' && text !== '' && type !== FIRST_ITEM) {
        this.#hiddenBytes += text.length;
        this.#hiddenParts++;
      }
    }
  }

  #add(text: string, isThinking: boolean): void {
    this.#bytes += Buffer.byteLength(text);
    if (isThinking) this.#thinkingPieces += piecesOf(text);
    else this.#pieces += piecesOf(text);
  }
}
