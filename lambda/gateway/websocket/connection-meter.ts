import type { Dialect } from '../../domain/usage/dialect.ts';
import { MAX_MODEL_CHARACTERS } from '../../domain/usage/limits.ts';
import { at, count, isRaw, type Raw } from '../../domain/usage/raw.ts';
import { addUsage } from '../../domain/usage/usage.ts';
import type { Reading } from '../../domain/usage/usage-event.ts';
import { PIECE_BYTES } from '../meter/decoder.ts';
import { JsonPicker, type PickerSink, parsed, type Wanted } from '../meter/json-picker.ts';
import { MAX_PICKED_BYTES, ReadingBuilder } from '../meter/reading-builder.ts';
import { wantedInResponse } from '../meter/wanted.ts';
import type { MessageListener } from './frame-reader.ts';

/*
 * Reads the responses on a WebSocket connection from its provider's messages:
 * - OpenAI Realtime: `response.created` … `response.done`, several at a time, and transcriptions of the input with a usage of their own.
 * - OpenAI Responses over WebSocket: the events of its streams.
 * - GPT-Live: a session, whose events have all of its seconds so far, and within events the responses that it delegates.
 * - Gemini Live: turns. The usage of a turn is its own, not the connection's; the model is only in the client's first message. Its
 *   translation has no turns but the usage of each second: all of them are one response, which ends with the connection.
 * @see https://platform.openai.com/docs/api-reference/realtime-server-events https://developers.openai.com/api/docs/guides/websocket-mode
 * @see https://developers.openai.com/api/docs/guides/voice-latency-cost
 * @see https://ai.google.dev/api/live https://ai.google.dev/gemini-api/docs/live-api/live-translate
 * @see https://github.com/pydantic/pydantic-ai/pull/7269 (measured: usage is by turn)
 */

const transcription: Wanted = { model: 'session.transcriptionModel' };

const wantedInMessage: Wanted = {
  ...wantedInResponse,
  type: 'type',
  session: {
    model: 'session.model',
    input_audio_transcription: transcription,
    audio: { input: { transcription } },
  },
  serverContent: {
    modelTurn: '#turn',
    turnComplete: 'turnComplete',
    groundingMetadata: {
      webSearchQueries: 'groundingQueries',
      groundingChunks: { '*': { web: '#grounded', maps: '#mapped' } },
      searchEntryPoint: '#grounded',
    },
  },
  toolCall: '#toolCall',
  event: {
    type: 'event.type',
    item: { type: 'event.item' },
    decision: '#decision',
    response: wantedInResponse['response'] as Wanted,
  },
};

/** In the client's messages: OpenAI's `response.create`, Gemini's `setup`. */
const wantedInStart: Wanted = { type: 'type', model: 'model', setup: { '': '#setup', model: 'model' } };

/** Values of one message take at most this in memory: far more than any event has. A message with more is not read. */
const MAX_VALUES_BYTES = 4_096 * PIECE_BYTES;
/** Responses that have begun and not ended. OpenAI allows a few at a time. */
const MAX_OPEN_RESPONSES = 64;

/** The picked values of one message, in their order, as JSON. */
type Values = readonly (readonly [name: string, json: string])[];

/** Ends a response: its reading says whether it is whole. */
export type EndResponse = (reading: Reading) => void;

/** The meter's facts about a connection. */
export interface MeteredConnection {
  readonly dialect: Dialect;
  /** In the query of the handshake. */
  readonly model: string | null;
  /** Called when a response begins. */
  readonly beginResponse: () => EndResponse;
}

interface OpenResponse {
  readonly builder: ReadingBuilder;
  readonly end: EndResponse;
}

const pickedValue = (values: Values, name: string): unknown =>
  parsed(values.findLast(([each]) => each === name)?.[1] ?? '');
const has = (values: Values, name: string): boolean => values.some(([each]) => each === name);

/** The texts of all values of a name: where a message repeats a member, servers take the first or the last. */
const textsOf = (values: Values, name: string): string[] =>
  values.flatMap(([each, json]) => {
    const value = each === name ? parsed(json) : null;
    return typeof value === 'string' && value !== '' ? value.slice(0, MAX_MODEL_CHARACTERS) : [];
  });

const textOf = (values: Values, name: string): string | null => textsOf(values, name).at(-1) ?? null;

/** Collects the values of each message, in bounded memory, whatever its length. */
class MessageValues implements MessageListener {
  readonly #wanted: Wanted;
  readonly #take: (values: Values) => void;
  readonly #onTooLong: () => void;
  #picker: JsonPicker | undefined;
  #values: [string, string][] = [];
  #bytes = 0;
  #isTooLong = false;

  constructor(wanted: Wanted, take: (values: Values) => void, onTooLong: () => void) {
    this.#wanted = wanted;
    this.#take = take;
    this.#onTooLong = onTooLong;
  }

  onData(chunk: Buffer): void {
    this.#picker ??= this.#newPicker();
    this.#picker.write(chunk);
  }

  onMessageEnd(): void {
    const values = this.#values;
    this.#picker = undefined;
    this.#values = [];
    this.#bytes = 0;
    if (this.#isTooLong) this.#onTooLong();
    this.#isTooLong = false;
    this.#take(values);
  }

  #newPicker(): JsonPicker {
    const sink: PickerSink = {
      value: (name, json) => {
        this.#bytes += json.length + PIECE_BYTES;
        if (this.#bytes <= MAX_VALUES_BYTES) this.#values.push([name, json]);
        else this.#isTooLong = true;
      },
      tooLong: () => {
        this.#isTooLong = true;
      },
      documentEnd: () => {},
    };
    return new JsonPicker(this.#wanted, sink, MAX_PICKED_BYTES);
  }
}

const feed = (builder: ReadingBuilder, values: Values): void => {
  for (const [name, json] of values) builder.value(name, json);
  builder.documentEnd();
};

/** The total of a Gemini usage object; null where there is none. */
const totalOf = (values: Values): number | null =>
  has(values, 'usageMetadata') ? count(at(pickedValue(values, 'usageMetadata'), 'totalTokenCount')) : null;

const TRANSLATES = /-translate/;
const DONE = /^response\.(done|completed|incomplete|failed|cancelled)$/;
const TRANSCRIBED = /input_audio_transcription\.completed$/;
/** Tools with a fee. The delegated response has no output in which they are counted. */
const FEE = /^(file_search|code_interpreter|shell|image_generation)_call$/;

/**
 * Reads the client's messages.
 *
 * @param onStart takes the models that a message names which begins a session or a response; none where it cannot be read
 */
export const readStarts = (onStart: (models: readonly string[]) => void): MessageListener =>
  new MessageValues(
    wantedInStart,
    (values) => {
      const isStart = has(values, '#setup') || textsOf(values, 'type').includes('response.create');
      if (isStart) onStart(textsOf(values, 'model'));
    },
    () => onStart([]),
  );

/** Finds the responses on one connection and reads their usage. */
export class ConnectionMeter {
  readonly #connection: MeteredConnection;
  readonly #isGemini: boolean;
  /** OpenAI's, by id. */
  readonly #open = new Map<string, OpenResponse>();
  /** Gemini's current turn, or the session of GPT-Live. */
  #turn: (OpenResponse & { total: number | null; isOver: boolean }) | undefined;
  #translated: Raw | null = null;
  #modelRequested: string | null;
  #modelServed: string | null = null;
  #transcriptionModel: string | null = null;
  #isWhole = true;
  /** The provider's messages. */
  readonly provider: MessageListener;

  constructor(connection: MeteredConnection) {
    this.#connection = connection;
    this.#isGemini = connection.dialect === 'gemini-generate';
    this.#modelRequested = connection.model;
    this.provider = new MessageValues(
      wantedInMessage,
      (values) => this.#take(values),
      () => this.markUnreadable(),
    );
  }

  get modelRequested(): string | null {
    return this.#modelRequested;
  }

  /** True until the client has named the model, where the provider's messages do not. */
  get needsModel(): boolean {
    return this.#isGemini && this.#modelRequested === null;
  }

  nameModel(model: string | undefined): void {
    if (this.needsModel) this.#modelRequested = model ?? null;
  }

  /** False if something on the connection could not be read: it may have responses that were not found. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** False where a response may end unseen: of what cannot be read, and of a translation or GPT-Live's session, which is one response. */
  get showsEnds(): boolean {
    return this.#isWhole && !this.#isTranslation && (this.#isGemini || this.#turn === undefined);
  }

  markUnreadable(): void {
    this.#isWhole = false;
  }

  /** Called when the connection has ended: ends the open responses. */
  end(): void {
    for (const id of [...this.#open.keys()]) this.#endOpenAi(id, false);
    if (this.#turn) this.#endTurn(this.#turn, this.#turn.isOver);
  }

  get #isTranslation(): boolean {
    return this.#isGemini && TRANSLATES.test(this.#modelRequested ?? '');
  }

  #take(values: Values): void {
    if (!this.#isGemini) this.#takeOpenAi(values);
    else if (this.#isTranslation) this.#takeTranslation(values);
    else this.#takeGemini(values);
  }

  #takeOpenAi(values: Values): void {
    this.#modelServed = textOf(values, 'session.model') ?? this.#modelServed;
    this.#transcriptionModel = textOf(values, 'session.transcriptionModel') ?? this.#transcriptionModel;
    const type = textOf(values, 'event.type') ?? textOf(values, 'type') ?? '';
    const isDone = DONE.test(type);
    if (has(values, '#decision') || FEE.test(textOf(values, 'event.item') ?? '')) this.markUnreadable();
    if (type.startsWith('session.')) this.#takeSession(values, type);
    if (TRANSCRIBED.test(type)) this.#takeTranscription(values);
    if (!isDone && type !== 'response.created') return;
    const id = textOf(values, 'response.id') ?? '';
    let response = this.#open.get(id);
    if (!response) {
      response = this.#begin();
      this.#open.set(id, response);
    }
    feed(response.builder, values);
    if (isDone) this.#endOpenAi(id, true);
    else if (this.#open.size > MAX_OPEN_RESPONSES) this.#endOpenAi(this.#open.keys().next().value as string, false);
  }

  #endOpenAi(id: string, isWhole: boolean): void {
    const { builder, end } = this.#open.get(id) as OpenResponse;
    this.#open.delete(id);
    end(this.#read(builder, isWhole));
  }

  #takeSession(values: Values, type: string): void {
    if (type === 'session.started') this.#turn ??= { ...this.#begin(), total: null, isOver: false };
    if (!this.#turn) return;
    feed(this.#turn.builder, values);
    if (type === 'session.closed') this.#endTurn(this.#turn, true);
  }

  /** The input's transcription has another model and is charged in addition. */
  #takeTranscription(values: Values): void {
    const { builder, end } = this.#begin();
    feed(builder, values);
    end({
      ...this.#read(builder, true),
      dialect: 'openai-transcription',
      modelRequested: this.#transcriptionModel,
      modelServed: null,
      billableItems: {},
    });
  }

  #takeTranslation(values: Values): void {
    const usage = pickedValue(values, 'usageMetadata');
    if (!isRaw(usage)) return;
    this.#turn ??= { ...this.#begin(), total: null, isOver: false };
    this.#translated = addUsage(this.#translated, usage);
    feed(this.#turn.builder, [['usageMetadata', JSON.stringify(this.#translated)]]);
  }

  #takeGemini(values: Values): void {
    const total = totalOf(values);
    const isTurn = has(values, '#turn') || has(values, '#toolCall');
    const isComplete = pickedValue(values, 'turnComplete') === true;
    if (total === null && !isTurn && !isComplete) return;
    const before = this.#turn;
    // Usage repeated within a turn grows. A turn that is over may wait for its usage, and the next one does not have it.
    const isNext = before && (before.isOver ? isTurn : total !== null && before.total !== null && total < before.total);
    if (isNext) this.#endTurn(before, true);
    // A turn may also be interrupted before the model says anything: then there is nothing to record.
    if (!this.#turn && total === null && !isTurn) return;
    this.#turn ??= { ...this.#begin(), total: null, isOver: false };
    const turn = this.#turn;
    feed(turn.builder, values);
    turn.total = total ?? turn.total;
    turn.isOver ||= isComplete;
    const isCallWithUsage = total !== null && has(values, '#toolCall');
    if (turn.total !== null && (turn.isOver || isCallWithUsage)) this.#endTurn(turn, true);
  }

  #endTurn({ builder, end }: OpenResponse, isWhole: boolean): void {
    this.#turn = undefined;
    end(this.#read(builder, isWhole));
  }

  #begin(): OpenResponse {
    return { builder: new ReadingBuilder(), end: this.#connection.beginResponse() };
  }

  #read(builder: ReadingBuilder, isWhole: boolean): Reading {
    const { usage } = builder;
    const { dialect } = this.#connection;
    return {
      dialect,
      usage,
      usageSource: usage ? 'reported' : 'none',
      complete: builder.finish() && isWhole,
      modelRequested: this.#modelRequested,
      modelServed: builder.model ?? this.#modelServed,
      streamed: true,
      serviceTier: builder.serviceTier,
      billableItems: builder.billableItems(dialect),
    };
  }
}
