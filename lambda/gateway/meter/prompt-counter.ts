import type { Prompt } from '../../domain/usage/usage-event.ts';
import { parsed } from './json-picker.ts';

/** In pixels; null where the bytes do not show them. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const SIGNATURES = {
  png: Buffer.from('89504e470d0a1a0a', 'hex'),
  jpeg: Buffer.from('ffd8ff', 'hex'),
  gif: Buffer.from('GIF8'),
  riff: Buffer.from('RIFF'),
};

const startsWith = (bytes: Buffer, signature: Buffer): boolean => bytes.subarray(0, signature.length).equals(signature);

/** The first bytes of a file as a request has it: base64, as in JSON, alone or in a data URL. Null for an address. */
export const decodedHead = (head: Buffer): Buffer | null => {
  // Some encoders write `\/` for a slash.
  const text = head.toString('latin1').replaceAll('\\', '');
  if (/^[a-z]+:\/\//i.test(text)) return null;
  return Buffer.from(text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text, 'base64');
};

/**
 * The size of a PNG, JPEG, GIF or WebP image from its first bytes. Undefined for any other file; null where the size is not in
 * these bytes, as behind a long preview in a JPEG.
 */
export const imageSize = (bytes: Buffer): ImageSize | null | undefined => {
  if (startsWith(bytes, SIGNATURES.png))
    return bytes.length < 24 ? null : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (startsWith(bytes, SIGNATURES.gif))
    return bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (startsWith(bytes, SIGNATURES.jpeg)) return jpegSize(bytes);
  if (startsWith(bytes, SIGNATURES.riff) && bytes.toString('latin1', 8, 12) === 'WEBP') return webpSize(bytes);
  return undefined;
};

/** Walks the segments to the frame header (SOF). @see ITU-T T.81, B.1.1 */
const jpegSize = (bytes: Buffer): ImageSize | null => {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // Fill bytes may precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
};

/** @see https://developers.google.com/speed/webp/docs/riff_container */
const webpSize = (bytes: Buffer): ImageSize | null => {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
};

/** A part of a prompt whose tokens the gateway cannot count. */
type Uncounted = Prompt['uncounted'][number];

/** Types of messages, items and parts whose content is counted. Any other type makes the prompt a lower bound. */
const countedTypes: ReadonlySet<string> = new Set([
  'text',
  'input_text',
  'output_text',
  'summary_text',
  'reasoning_text',
  'refusal',
  'reasoning',
  'thinking',
  'thought',
  'message',
  'user_input',
  'model_output',
  'image_url',
  'input_image',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'tool_call',
  'function',
  'function_call',
  'function_call_output',
  'function_result',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** Those that call a tool. Dialects without them wrap the call in a member of its own. */
const callTypes: ReadonlySet<string> = new Set(['tool_use', 'function_call', 'custom_tool_call']);

/** Tools that the client runs. */
const clientToolTypes: ReadonlySet<string> = new Set(['function', 'custom']);

const MAX_IMAGES = 64;

/** Strings with escapes are sampled, to tell how long the text is that they stand for. */
const MAX_SAMPLE_BYTES = 16 * 1024;
const MAX_SAMPLE_OF_STRING = 4 * 1024;

/** Has the size of all images but some JPEGs. */
const SHORT_HEAD_BYTES = 256;

const BACKSLASH = 0x5c;

/**
 * Counts what a request's prompt consists of while its body is read, and keeps no content but a sample of 16 KB. The body is read
 * anyway, and only numbers are added up: what they mean is worked out in `count`, for the few requests that need it.
 */
export class PromptCounter {
  #messages = 0;
  #calls = 0;
  #textBytes = 0;
  #toolBytes = 0;
  #schemaBytes = 0;
  readonly #images: { width: number | null; height: number | null; detail: string | null }[] = [];
  readonly #uncounted = new Set<Uncounted>();

  /** Bytes of sampled strings, those without escapes included, which need no copy. */
  #sampledBytes = 0;
  #escaped: Buffer[] = [];
  #escapedBytes = 0;

  /** The current part has nothing yet that is counted. */
  #isPartEmpty = false;
  #detail: string | null = null;
  #firstImageOfPart = 0;

  /** Takes a name from `wantedInRequest` that reports a presence. */
  see(name: string): void {
    if (name === '#part' || name === '#message') {
      this.#endPart();
      this.#isPartEmpty = name === '#part';
      if (name === '#message') this.#messages++;
    } else if (name === '#call') this.#calls++;
    else if (name === '#file') this.#leaveOut('file');
    else if (name === '#stored') this.#leaveOut('stored');
    else if (name === '#serverTool') this.#leaveOut('tool');
  }

  /** Takes a length. */
  measure(name: string, bytes: number, head: Buffer): void {
    if (name === 'tools') this.#toolBytes += bytes;
    else if (name === 'schema') this.#schemaBytes += bytes;
    else if (name === 'text') this.#addText(bytes, head);
    else if (bytes === 0) return;
    else if (name === 'stored') this.#leaveOut('stored');
    else if (name === 'media') this.#addMedia(head);
  }

  partType(type: string): void {
    this.#isPartEmpty = false;
    if (callTypes.has(type)) this.#calls++;
    if (countedTypes.has(type)) return;
    this.#leaveOut(type.includes('audio') ? 'audio' : type.includes('video') ? 'video' : 'part');
  }

  detail(detail: string): void {
    this.#detail = detail.slice(0, 16);
    for (const image of this.#images.slice(this.#firstImageOfPart)) image.detail = this.#detail;
  }

  toolType(type: string): void {
    if (!clientToolTypes.has(type)) this.#leaveOut('tool');
  }

  /** The body could not be read to its end. */
  markIncomplete(): void {
    this.#leaveOut('part');
  }

  count(): Prompt {
    this.#endPart();
    return {
      messages: this.#messages,
      calls: this.#calls,
      textBytes: Math.round(this.#textBytes * this.#shareOfText()),
      toolBytes: this.#toolBytes,
      schemaBytes: this.#schemaBytes,
      images: this.#images,
      uncounted: [...this.#uncounted],
    };
  }

  #leaveOut(what: Uncounted): void {
    this.#isPartEmpty = false;
    this.#uncounted.add(what);
  }

  #addText(bytes: number, head: Buffer): void {
    this.#isPartEmpty = false;
    this.#textBytes += bytes;
    // An object or array has no sample.
    const sample = head.subarray(0, Math.min(MAX_SAMPLE_OF_STRING, MAX_SAMPLE_BYTES - this.#escapedBytes));
    if (sample.includes(BACKSLASH)) {
      this.#escaped.push(Buffer.from(sample));
      this.#escapedBytes += sample.length;
    } else this.#sampledBytes += sample.length === head.length ? bytes : sample.length;
  }

  #addMedia(head: Buffer): void {
    this.#isPartEmpty = false;
    const early = sizeOf(head.subarray(0, SHORT_HEAD_BYTES));
    const size = early === null ? sizeOf(head) : early;
    if (size === undefined) this.#leaveOut('file');
    else if (this.#images.length === MAX_IMAGES) this.#leaveOut('image');
    else this.#images.push({ width: size?.width ?? null, height: size?.height ?? null, detail: this.#detail });
  }

  #endPart(): void {
    if (this.#isPartEmpty) this.#uncounted.add('part');
    this.#isPartEmpty = false;
    this.#detail = null;
    this.#firstImageOfPart = this.#images.length;
  }

  /** Bytes of text for each byte of JSON: less than 1 where many characters are escaped. */
  #shareOfText(): number {
    const bytes = this.#sampledBytes + this.#escapedBytes;
    if (bytes === 0) return 1;
    const unescaped = this.#escaped.reduce((sum, sample) => sum + textBytesOf(sample), 0);
    return (this.#sampledBytes + unescaped) / bytes;
  }
}

/** Null for an address, and where the head does not contain the size; undefined where it is no image. */
const sizeOf = (head: Buffer): ReturnType<typeof imageSize> => {
  const bytes = decodedHead(head);
  return bytes && imageSize(bytes);
};

/** A surrogate pair cut in two counts as two characters: the error is within one sample. */
const textBytesOf = (json: Buffer): number => {
  // An escape that was cut at the end would not parse.
  const text = parsed(`"${json.toString('utf8').replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"`);
  return typeof text === 'string' ? Buffer.byteLength(text) : json.length;
};
