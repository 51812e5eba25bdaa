import { loadBundledBook } from '../../lambda/domain/price/price-book.ts';
import { priceRequest } from '../../lambda/domain/price/price-request.ts';
import type { PriceBook } from '../../lambda/domain/price/rates.ts';
import type { PriceableRequest } from '../../lambda/domain/price/request-rates.ts';
import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import type { PricedUsage } from '../../lambda/domain/usage/usage.ts';
import type { Reading } from '../../lambda/domain/usage/usage-event.ts';
import { createMeter } from '../../lambda/gateway/meter/meter.ts';
import { createRequestReader } from '../../lambda/gateway/meter/request-reader.ts';
import { randomFrom } from './random.ts';
import type { Recording } from './recording.ts';

const bundledBook = await loadBundledBook();

/** Longest piece a body is cut into: pieces of one byte to this, so that every event of a stream is cut somewhere. */
const MAX_PIECE_BYTES = 1024;

/** The body in pieces, cut at random places: mostly small, sometimes large. */
function* pieces(body: Buffer, seed: number): Generator<Buffer> {
  const random = randomFrom(seed);
  for (let at = 0; at < body.length; ) {
    const length = 1 + Math.floor(random() ** 3 * MAX_PIECE_BYTES);
    yield body.subarray(at, at + length);
    at += length;
  }
}

export interface Replayed {
  readonly reading: Reading;
  readonly priced: PricedUsage;
  /** The time whose prices were taken. */
  readonly pricedAt: string;
}

/** `created` (OpenAI's and its like's), `created_at`, in seconds since 1970, near the head of the response. */
const CREATED = /"created(?:_at)?"\s*:\s*(1[0-9]{9})\b/;
const CREATED_WITHIN_BYTES = 64 * 1024;

/** When a recorded request was made: as recorded, else as the response says, else as given. */
const timeOf = (recording: Recording, otherwise: string): string => {
  if (recording.startedAt) return recording.startedAt;
  const created = CREATED.exec(recording.bytes.toString('latin1', 0, CREATED_WITHIN_BYTES))?.[1];
  return created ? new Date(Number(created) * 1000).toISOString() : otherwise;
};

/** Uploads are recorded as they went over the wire, which begins with their boundary. */
const requestType = (req: unknown): string => {
  const boundary = typeof req === 'string' ? /^--([^\r\n]+)\r\n/.exec(req)?.[1] : undefined;
  return boundary === undefined ? 'application/json' : `multipart/form-data; boundary=${boundary}`;
};

const requestBody = (req: unknown): Buffer =>
  Buffer.from(typeof req === 'string' ? req : req === null || req === undefined ? '' : JSON.stringify(req));

/** The members in which providers report usage, of the same length under a name that means nothing. */
const USAGE_MEMBERS = /"(usage|usageMetadata|x_groq|meta)"(?=\s*:)/g;

/** The same recording of a provider that reports no usage. */
export const withoutUsage = (recording: Recording): Recording => {
  const text = recording.bytes.toString('latin1').replace(USAGE_MEMBERS, (name) => `"${'-'.repeat(name.length - 2)}"`);
  return { ...recording, bytes: Buffer.from(text, 'latin1') };
};

/** Sends a recorded response, cut in pieces, through the gateway's meter and the recorder's pricing. */
export const replay = async (
  recording: Recording,
  seed: number,
  at: string,
  findPrice: PriceBook = bundledBook,
): Promise<Replayed> => {
  const path = recording.path.split('?')[0] ?? '';
  const requestReader = createRequestReader(requestType(recording.req), path);
  requestReader.write(requestBody(recording.req));
  const meter = createMeter(
    { method: recording.method, path, facts: () => requestReader.facts() },
    {
      status: recording.status,
      contentType: recording.ctype ?? undefined,
      contentEncoding: recording.encoding ?? undefined,
    },
  );
  for (const piece of pieces(recording.bytes, seed)) meter.write(piece);
  const reading = await meter.end(true);
  const pricedAt = timeOf(recording, at);
  return { reading, priced: priceRequest(requestOf(recording, reading, pricedAt), findPrice), pricedAt };
};

export const requestOf = (recording: Recording, reading: Reading, pricedAt: string): PriceableRequest => ({
  provider: recording.provider as ProviderLabel,
  method: recording.method,
  path: recording.path.split('?')[0] ?? '',
  status: recording.status,
  startedAt: pricedAt,
  reading,
});
