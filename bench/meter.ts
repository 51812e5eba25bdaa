/**
 * The streaming meter against a plain reader that splits the stream into lines and parses every one: megabytes a second and
 * peak heap, on long streams of each shape, in interleaved rounds of one run.
 */

import { createMeter } from '../lambda/gateway/meter/meter.ts';
import { PromptCounter } from '../lambda/gateway/meter/prompt-counter.ts';
import { median, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const { rounds, chunks: chunkCount } = benchOptions('meter', { rounds: 25, chunks: 20_000 });

/** Reads arrive in pieces of about a TLS record. */
const PIECE_BYTES = 4096;

/** A gateway is warm after its first streams; both readers get as many to be compiled in. */
const WARM_UP_ROUNDS = 20;

const words = ['The', ' quick', ' brown', ' "fox"', ' jumps\n', ' über', ' lazy', ' dogs'];
const word = (n: number): string => words[n % words.length] as string;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const repeat = (make: (n: number) => unknown): string =>
  Array.from({ length: chunkCount }, (_, n) => data(make(n))).join('');

const chatChunk = (n: number, usage?: null) => ({
  id: 'chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'gpt-4o-2024-08-06',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
  choices: [{ index: 0, delta: { content: word(n) }, logprobs: null, finish_reason: null }],
  ...(usage === null ? { usage } : {}),
});
const chatEnd = data({
  ...chatChunk(0),
  choices: [],
  usage: { prompt_tokens: 812, completion_tokens: chunkCount, total_tokens: 812 + chunkCount },
});

interface Shape {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** Where the plain reader finds the usage in one parsed event. */
  readonly usageOf: (event: Record<string, never>) => unknown;
}

const shapes: readonly Shape[] = [
  {
    name: 'OpenAI chat',
    path: '/v1/chat/completions',
    body: repeat((n) => chatChunk(n)) + chatEnd,
    usageOf: (event) => event['usage'],
  },
  {
    name: 'OpenAI chat, usage asked for',
    path: '/v1/chat/completions',
    body: repeat((n) => chatChunk(n, null)) + chatEnd,
    usageOf: (event) => event['usage'],
  },
  {
    name: 'Anthropic messages',
    path: '/v1/messages',
    body:
      data({
        type: 'message_start',
        message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 25, output_tokens: 1 } },
      }) +
      repeat((n) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word(n) } })) +
      data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: chunkCount } }),
    usageOf: (event) => event['usage'] ?? (event['message'] as Record<string, unknown> | undefined)?.['usage'],
  },
  {
    name: 'Gemini (usage in every event)',
    path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
    body: repeat((n) => ({
      candidates: [{ content: { parts: [{ text: word(n) }], role: 'model' }, index: 0 }],
      usageMetadata: {
        promptTokenCount: 9,
        candidatesTokenCount: n,
        totalTokenCount: 9 + n,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
      },
      modelVersion: 'gemini-2.5-flash',
    })),
    usageOf: (event) => event['usageMetadata'],
  },
];

const piecesOf = (body: string): Buffer[] => {
  const bytes = Buffer.from(body);
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
};

const byMeter = async ({ path }: Shape, pieces: readonly Buffer[]): Promise<unknown> => {
  const prompt = new PromptCounter();
  const facts = { model: null, fallbacks: [], stream: true, serviceTier: null, prompt, billableItems: {} };
  const meter = createMeter(
    { method: 'POST', path, facts: () => facts },
    { status: 200, contentType: 'text/event-stream', contentEncoding: undefined },
  );
  for (const piece of pieces) meter.write(piece);
  return (await meter.end(true)).usage;
};

const byLines = async ({ usageOf }: Shape, pieces: readonly Buffer[]): Promise<unknown> => {
  const decoder = new TextDecoder();
  let rest = '';
  let usage: unknown = null;
  for (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const found = usageOf(JSON.parse(line.slice(6)) as Record<string, never>);
      if (found) usage = usage ? { ...usage, ...found } : found;
    }
  }
  return usage;
};

type Reader = typeof byMeter;

const timedMs = async (reader: Reader, shape: Shape, pieces: readonly Buffer[]): Promise<number> => {
  const startedAt = performance.now();
  await reader(shape, pieces);
  return performance.now() - startedAt;
};

/** Garbage and all: what one stream takes of a heap that was clean before. Not while it is timed: a clean heap is a gift. */
const heapBytes = async (reader: Reader, shape: Shape, pieces: readonly Buffer[]): Promise<number> => {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  await reader(shape, pieces);
  return Math.max(0, process.memoryUsage().heapUsed - before);
};

const results = [];
for (const shape of shapes) {
  const pieces = piecesOf(shape.body);
  const megabytes = Buffer.byteLength(shape.body) / 1e6;
  const [metered, plain] = await Promise.all([byMeter(shape, pieces), byLines(shape, pieces)]);
  for (const [name, value] of Object.entries(plain as object))
    if ((metered as Record<string, unknown>)[name] === undefined)
      throw new Error(`${shape.name}: the two disagree on ${name} (${value})`);
  const meterMs: number[] = [];
  const linesMs: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const [meter, lines] = [await timedMs(byMeter, shape, pieces), await timedMs(byLines, shape, pieces)];
    if (round < 0) continue;
    meterMs.push(meter);
    linesMs.push(lines);
  }
  results.push({
    stream: shape.name,
    megabytes: rounded(megabytes, 1),
    meterMBps: Math.round(megabytes / (median(meterMs) / 1000)),
    linesMBps: Math.round(megabytes / (median(linesMs) / 1000)),
    ratio: rounded(median(meterMs.map((ms, i) => (linesMs[i] as number) / ms)), 1),
    meterHeapKB: Math.round((await heapBytes(byMeter, shape, pieces)) / 1024),
    linesHeapKB: Math.round((await heapBytes(byLines, shape, pieces)) / 1024),
  });
}

report('meter', { rounds, chunks: chunkCount, pieceBytes: PIECE_BYTES }, results);
