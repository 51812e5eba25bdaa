import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import type { PricedUsage } from '../../../lambda/domain/usage/usage.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { createMeter } from '../../../lambda/gateway/meter/meter.ts';
import { createRequestReader } from '../../../lambda/gateway/meter/request-reader.ts';
import { randomFrom } from '../../../ops/meter/random.ts';
import { type Recording, seedRecordings } from '../../../ops/meter/recording.ts';
import { requestOf } from '../../../ops/meter/replay.ts';

/*
 * The same response in another form: the figures must not change. HTTP, JSON or server-sent events allow each form, and some
 * provider, proxy or next version of an API may use it.
 */

interface Written {
  readonly body: string | Buffer;
  /** Default 7. */
  readonly pieceBytes?: number;
  /** Default: that of the recording. */
  readonly contentType?: string | undefined;
  readonly encoding?: string;
}

interface Metered {
  readonly reading: Reading;
  readonly priced: PricedUsage;
}

const meter = async (recording: Recording, written: Written): Promise<Metered> => {
  const path = recording.path.split('?')[0] as string;
  const request = createRequestReader('application/json', path);
  request.write(Buffer.from(JSON.stringify(recording.req)));
  const contentType = 'contentType' in written ? written.contentType : (recording.ctype ?? undefined);
  const it = createMeter(
    { method: recording.method, path, facts: () => request.facts() },
    { status: recording.status, contentType, contentEncoding: written.encoding },
  );
  const bytes = Buffer.from(written.body);
  const { pieceBytes = 7 } = written;
  for (let at = 0; at < bytes.length; at += pieceBytes) it.write(bytes.subarray(at, at + pieceBytes));
  const reading = await it.end(true);
  return { reading, priced: priceRequest(requestOf(recording, reading, '2026-10-01T12:00:00.000Z')) };
};

const textOf = ({ bytes }: Recording): string => bytes.toString('utf8');
const isSse = ({ ctype }: Recording): boolean => ctype === 'text/event-stream';
const lines = (recording: Recording): string => textOf(recording).replaceAll('\r\n', '\n');

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Every JSON document of the body written anew: the body itself, its lines, the data of its events. */
const rewritten = (recording: Recording, write: (document: Json) => string): string => {
  const text = lines(recording);
  if (isSse(recording))
    return text.replace(/^data: (\{.*)$/gm, (_, json: string) =>
      write(JSON.parse(json) as Json)
        .split('\n')
        .map((line) => `data: ${line}`)
        .join('\n'),
    );
  const documents = text.trim().split('\n');
  return documents.length > 1 && documents.every((line) => /^\{.*\}$/.test(line))
    ? documents.map((line) => write(JSON.parse(line) as Json)).join('\n')
    : write(JSON.parse(text) as Json);
};

type Members = (object: [string, Json][]) => [string, Json][];

const mapObjects = (value: Json, members: Members): Json => {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, members));
  if (typeof value !== 'object' || value === null) return value;
  const mapped = Object.entries(value).map(([name, member]): [string, Json] => [name, mapObjects(member, members)]);
  return Object.fromEntries(members(mapped));
};

const random = randomFrom(11);
const shuffled: Members = (members) =>
  members
    .map((member) => ({ member, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ member }) => member);

const strange: Members = (members) => [
  ['x_new', { list: [1, 'usage', { usage_of: 1 }], nothing: null }],
  ...members,
  ['x_text', 'she said "usage": {"prompt_tokens": 5} and {'],
];

const maybeNull = ['usage', 'usageMetadata', 'error', 'x_groq', 'meta', 'service_tier', 'cached_tokens', 'iterations'];
const nulls: Members = (members) => [
  ...maybeNull.filter((name) => !members.some(([other]) => other === name)).map((name): [string, Json] => [name, null]),
  ...members,
];

const usageNames = ['usage', 'usageMetadata', 'meta'];
const numbersAsText = (value: Json, inUsage = false): Json => {
  if (typeof value === 'number') return inUsage ? String(value) : value;
  if (Array.isArray(value)) return value.map((item) => numbersAsText(item, inUsage));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, numbersAsText(member, inUsage || usageNames.includes(name))]),
  );
};

const anyBody: Readonly<Record<string, (recording: Recording) => Written>> = {
  'byte by byte': ({ bytes }) => ({ body: bytes, pieceBytes: 1 }),
  'in one piece': ({ bytes }) => ({ body: bytes, pieceBytes: bytes.length }),
  'without a content type, byte by byte': ({ bytes }) => ({ body: bytes, pieceBytes: 1, contentType: undefined }),
  'called plain text': ({ bytes }) => ({ body: bytes, contentType: 'text/plain; charset=utf-8' }),
  'in gzip': ({ bytes }) => ({ body: gzipSync(bytes), encoding: 'gzip' }),
  'in gzip of two members': ({ bytes }) => ({
    body: Buffer.concat([gzipSync(bytes.subarray(0, 50)), gzipSync(bytes.subarray(50))]),
    encoding: 'GZIP',
  }),
  'in br': ({ bytes }) => ({ body: brotliCompressSync(bytes), encoding: 'br' }),
  'in zstd': ({ bytes }) => ({ body: zstdCompressSync(bytes), encoding: 'zstd' }),
  'in deflate': ({ bytes }) => ({ body: deflateSync(bytes), encoding: 'deflate' }),
  'in deflate without its header': ({ bytes }) => ({ body: deflateRawSync(bytes), encoding: 'deflate', pieceBytes: 1 }),
  'behind a byte order mark': (recording) => ({ body: `\uFEFF${textOf(recording)}`, pieceBytes: 1 }),
  'behind white space': (recording) => ({ body: `\n   \n${textOf(recording)}`, pieceBytes: 2 }),
  'with its members in another order': (recording) => ({
    body: rewritten(recording, (json) => JSON.stringify(mapObjects(json, shuffled))),
  }),
  'with members that nobody knows': (recording) => ({
    body: rewritten(recording, (json) => JSON.stringify(mapObjects(json, strange))),
  }),
  'with members that are null': (recording) => ({
    body: rewritten(recording, (json) => JSON.stringify(mapObjects(json, nulls))),
  }),
  'with numbers as text': (recording) => ({
    body: rewritten(recording, (json) => JSON.stringify(numbersAsText(json))),
  }),
  'with white space between tokens': (recording) => ({
    body: rewritten(recording, (json) =>
      JSON.stringify(json, null, 1)
        .replace(/\n\s*/g, ' ')
        .replace(/^( *"[a-z_A-Z]+"):/gm, '$1 :'),
    ),
  }),
};

const jsonBody: typeof anyBody = {
  'over many lines': (recording) => ({
    body: JSON.stringify(JSON.parse(textOf(recording)), null, '\t').replaceAll('\n', '\r\n'),
  }),
  'called an event stream': ({ bytes }) => ({ body: bytes, contentType: 'text/event-stream' }),
};

const stream: typeof anyBody = {
  'with CRLF': (recording) => ({ body: lines(recording).replaceAll('\n', '\r\n'), pieceBytes: 3 }),
  'with CR alone': (recording) => ({ body: lines(recording).replaceAll('\n', '\r'), pieceBytes: 3 }),
  'with blank lines to spare': (recording) => ({ body: lines(recording).replaceAll('\n\n', '\n\n\n') }),
  'without blank lines': (recording) => ({ body: lines(recording).replaceAll(/\n\n+/g, '\n') }),
  'without a space behind the colon': (recording) => ({ body: lines(recording).replaceAll(/^data: /gm, 'data:') }),
  'without its last line end': (recording) => ({ body: textOf(recording).trimEnd() }),
  'without [DONE]': (recording) => ({ body: textOf(recording).replace('data: [DONE]', '') }),
  'with ids and pauses': (recording) => ({
    body: lines(recording).replaceAll(/^data:/gm, 'id: 1\nretry: 10\ndata:'),
  }),
  'with comments to keep it alive': (recording) => ({
    body: ': PROCESSING\n\n'.repeat(20) + lines(recording).replaceAll('\n\n', '\n\n: keep-alive\n\n'),
  }),
  'called JSON': ({ bytes }) => ({ body: bytes, contentType: 'application/json', pieceBytes: 1 }),
};

describe.each(
  seedRecordings
    .filter(({ ctype }) => ctype?.includes('json') || ctype === 'text/event-stream')
    .map((recording) => [recording.id, recording] as const),
)('%s', (_, recording) => {
  const isStream = isSse(recording);
  const isWhole = !isStream && !/^\{.*\}\n\{/.test(textOf(recording));
  const ways = { ...anyBody, ...(isStream ? stream : {}), ...(isWhole ? jsonBody : {}) };

  it.each(Object.keys(ways))('means the same %s', async (way) => {
    const expected = await meter(recording, { body: recording.bytes });
    const got = await meter(recording, (ways[way] as (typeof ways)[string])(recording));
    expect({ ...got.priced, model: got.reading.modelServed, complete: got.reading.complete }).toEqual({
      ...expected.priced,
      model: expected.reading.modelServed,
      complete: expected.reading.complete,
    });
  });
});
