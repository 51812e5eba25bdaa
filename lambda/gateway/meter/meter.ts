import { BILLABLE } from '../../domain/usage/billable-items.ts';
import { type Dialect, dialectOf, isEmbedding, isStreamPath, modelOfPath } from '../../domain/usage/dialect.ts';
import { tierMembers } from '../../domain/usage/usage.ts';
import type { Reading } from '../../domain/usage/usage-event.ts';
import { type BodyDecoder, decoderFor } from './decoder.ts';
import { EventStreamReader } from './event-stream-reader.ts';
import { JsonPicker } from './json-picker.ts';
import { MAX_PICKED_BYTES, ReadingBuilder } from './reading-builder.ts';
import type { BodyFacts } from './request-reader.ts';
import { SseReader } from './sse-reader.ts';
import { VisibleOutput } from './visible-output.ts';
import { usageMarkOf, wantedInBatch, wantedInResponse } from './wanted.ts';

export interface MeteredRequest {
  readonly method: string;
  /** As forwarded, without the query string. */
  readonly path: string;
  /** The facts of the request's body. Called after the response has ended. */
  facts(): BodyFacts | Promise<BodyFacts>;
}

export interface MeteredResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Headers with usage, by name in lower case. */
  readonly usageHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
}

interface BodyReader {
  write(chunk: Buffer): void;
  end(): void;
}

/** Reads nothing: audio, images, files. */
const opaque: BodyReader = { write: () => {}, end: () => {} };

const JSON_HEAD = /^[[{]/;
const SSE_HEAD = /^(data|event|id|retry)?:/;

/** Bytes of a second of OpenAI's speech: 24 kHz of 16 bits, or 128 kbit/s. */
const speechBytes = [
  [/^audio\/(x-)?(pcm|wav)/i, 48_000],
  [/^audio\/(mpeg|mp3)/i, 16_000],
] as const;

const NO_BYTES: Buffer = Buffer.alloc(0);

/** The length of body that shows its format. */
const HEAD_BYTES = 'event:'.length;

/** White space and the bytes of a byte order mark, which may precede any body and have no meaning. */
const leading: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** The reader for a body. Its first bytes decide, because content types are often wrong; if they do not, its content type does. */
const readerFor = (contentType: string, first: Buffer, dialect: Dialect, builder: ReadingBuilder): BodyReader => {
  const head = first.toString('latin1', 0, HEAD_BYTES);
  const wanted = dialect.endsWith('-batch-output') ? wantedInBatch : wantedInResponse;
  const picker = () => new JsonPicker(wanted, builder, MAX_PICKED_BYTES);
  if (contentType.startsWith('application/vnd.amazon.eventstream'))
    return new EventStreamReader(picker, () => builder.markInterrupted());
  const isJson = JSON_HEAD.test(head);
  if (!isJson && (contentType.startsWith('text/event-stream') || SSE_HEAD.test(head)))
    return new SseReader(picker, () => builder.model !== null, usageMarkOf(dialect));
  if (isJson || contentType.includes('json')) {
    const whole = picker();
    return {
      write: (chunk) => whole.write(chunk),
      end: () => {
        if (whole.insideDocument) builder.markInterrupted();
      },
    };
  }
  return opaque;
};

/** Collects the first bytes of a body, however small its chunks are, then passes everything to the chosen reader. */
class ChosenReader implements BodyReader {
  readonly #choose: (first: Buffer) => BodyReader;
  #head = NO_BYTES;
  #reader: BodyReader | undefined;

  constructor(choose: (first: Buffer) => BodyReader) {
    this.#choose = choose;
  }

  write(chunk: Buffer): void {
    if (this.#reader) {
      this.#reader.write(chunk);
      return;
    }
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    let from = 0;
    while (leading.has(this.#head[from] as number)) from++;
    this.#head = this.#head.subarray(from);
    if (this.#head.length >= HEAD_BYTES) this.#start();
  }

  end(): void {
    (this.#reader ?? this.#start()).end();
  }

  #start(): BodyReader {
    const head = this.#head;
    this.#head = NO_BYTES;
    this.#reader = this.#choose(head);
    this.#reader.write(head);
    return this.#reader;
  }
}

/** Makes a meter for one response: it recognises the dialect and reads the usage from a copy of the bytes. */
export const createMeter = (request: MeteredRequest, response: MeteredResponse): Meter => new Meter(request, response);

export class Meter {
  readonly #request: MeteredRequest;
  readonly #response: MeteredResponse;
  readonly #dialect: Dialect;
  readonly #builder: ReadingBuilder;
  readonly #output: VisibleOutput;
  readonly #reader: BodyReader;
  readonly #decoder: BodyDecoder;
  #bytes = 0;
  #failed = false;

  constructor(request: MeteredRequest, response: MeteredResponse) {
    const dialect = dialectOf(request.method, request.path);
    const builder = new ReadingBuilder(
      dialect.endsWith('-batch-output'),
      dialect === 'gemini-generate' && isStreamPath(request.path),
    );
    const contentType = (response.contentType ?? '').toLowerCase();
    this.#request = request;
    this.#response = response;
    this.#dialect = dialect;
    this.#builder = builder;
    this.#output = new VisibleOutput(response.status < 400 ? dialect : 'free');
    this.#reader = new ChosenReader((first) => readerFor(contentType, first, dialect, builder));
    this.#decoder = decoderFor(response.contentEncoding, (chunk) => this.#read(chunk));
  }

  /** Takes a copy of the response's bytes, as received. Never throws, and keeps a chunk at most until its event ends. */
  write(chunk: Buffer): void {
    this.#decoder.write(chunk);
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#failed) return;
    try {
      this.#output.write(chunk);
      this.#reader.write(chunk);
    } catch {
      // A fault of the meter makes this reading incomplete, but never affects the client.
      this.#failed = true;
    }
  }

  /**
   * Called at the end of the response. Never rejects.
   * @param whole false if the response was interrupted
   */
  async end(whole: boolean): Promise<Reading> {
    const decoded = await this.#decoder.end();
    let finished = false;
    try {
      this.#reader.end();
      finished = this.#builder.finish();
    } catch {
      this.#failed = true;
    }
    const complete = whole && decoded && finished && !this.#failed;
    const facts = await this.#request.facts();
    const reading = assemble(this.#request, facts, this.#dialect, this.#builder, complete, this.#response.usageHeaders);
    return this.#response.status < 400 ? withVisible(this.#withSpeech(reading), facts, this.#output) : reading;
  }

  #withSpeech(reading: Reading): Reading {
    const [, bytes] = speechBytes.find(([type]) => type.test(this.#response.contentType ?? '')) ?? [];
    if (reading.dialect !== 'openai-speech' || bytes === undefined) return reading;
    return { ...reading, billableItems: { ...reading.billableItems, [BILLABLE.speechSeconds]: this.#bytes / bytes } };
  }
}

type UsageHeaders = NonNullable<MeteredResponse['usageHeaders']>;

const headerBillableItems = (headers: UsageHeaders): Reading['billableItems'] => {
  const tokens = Number(headers.find(([name]) => name === 'fireworks-cached-prompt-tokens')?.[1]);
  return tokens > 0 ? { [BILLABLE.cachedPromptTokens]: tokens } : {};
};

/** Bedrock's counts for models whose own format has none, by the names of its metrics. Embeddings have no output. */
const headerUsage = (headers: UsageHeaders, path: string): Record<string, unknown> | null => {
  const counts = headers.flatMap(([name, value]) => {
    const [, kind] = /^x-amzn-bedrock-(.+)-token-count$/.exec(name) ?? [];
    return kind === undefined
      ? []
      : [[`${kind.replace(/-./g, ([, letter]) => String(letter).toUpperCase())}TokenCount`, value]];
  });
  if (counts.length === 0) return null;
  return { ...(path.includes('embed') && { outputTokenCount: 0 }), ...Object.fromEntries(counts) };
};

/** The tier that served: Gemini's, and that of Bedrock's models in their own format, `optimized` for latency or by name. */
const headerTier = (headers: UsageHeaders): string | null =>
  headers.find(([name, value]) => value === 'optimized' || name.endsWith('-tier'))?.[1] ?? null;

/** The reading of a request without a response. */
export const emptyReading = async (request: MeteredRequest): Promise<Reading> =>
  assemble(request, await request.facts(), dialectOf(request.method, request.path), new ReadingBuilder(), false);

const assemble = (
  { path }: MeteredRequest,
  facts: BodyFacts,
  byPath: Dialect,
  builder: ReadingBuilder,
  complete: boolean,
  headers: UsageHeaders = [],
): Reading => {
  const dialect: Dialect = byPath === 'unknown' ? builder.guessDialect() : byPath;
  const usage = builder.usage ?? (dialect === 'bedrock-invoke' ? headerUsage(headers, path) : null);
  return {
    dialect,
    usage,
    usageSource: usage ? 'reported' : 'none',
    complete,
    modelRequested: modelOfPath(path) ?? facts.model,
    // The name in the path has the region or profile that decides the price; the one in a body of Bedrock has not.
    modelServed: dialect === 'bedrock-invoke' ? null : builder.model,
    streamed: facts.stream || isStreamPath(path),
    // The tier that was requested may not be the tier that was served: usage that reports one decides.
    serviceTier:
      builder.serviceTier ??
      headerTier(headers) ??
      (usage && tierMembers.some((name) => name in usage) ? null : facts.serviceTier),
    billableItems: { ...facts.billableItems, ...headerBillableItems(headers), ...builder.billableItems(dialect) },
  };
};

/** Adds what an estimate needs if a response reported no usage, or if Anthropic's was interrupted before it reported its output. */
const withVisible = (reading: Reading, { prompt }: BodyFacts, output: VisibleOutput): Reading => {
  const isHalf = !reading.complete && reading.dialect === 'anthropic-messages';
  if (reading.usage !== null && !isHalf) return reading;
  const counted = isEmbedding(reading.dialect) && reading.complete ? { outputBytes: 0 } : output.count();
  if (counted === null) return reading;
  const sizes = prompt.count();
  const isEmpty = sizes.textBytes === 0 && sizes.images.length === 0;
  if (isEmpty && !isHalf) return reading;
  return { ...reading, usageSource: 'estimated', visible: { prompt: sizes, ...counted } };
};
