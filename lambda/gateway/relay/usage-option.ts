import type { Provider } from '../../domain/providers.ts';
import { dialectOf } from '../../domain/usage/dialect.ts';
import { JsonPicker } from '../meter/json-picker.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';
import { writeInSlices } from './in-slices.ts';

/*
 * OpenAI-style streams report usage only if the request has `stream_options.include_usage`. If the client did not set it, the
 * gateway does, and removes from the response what that adds: see usage-chunk-filter.ts.
 * @see https://platform.openai.com/docs/api-reference/chat/create#chat_create-stream_options
 */

/**
 * Largest body that is read whole before it is forwarded. The provider also needs the whole body before it can begin, so the
 * only delay is the transfer from here to the provider, between data centres.
 */
export const MAX_BODY_BYTES = 16 * 2 ** 20;

const STREAM = '"stream"';
const ASK = '"stream_options":{"include_usage":true}';

/** True if the option may have to be added: then the body is read whole and inspected. */
export const mayAskForUsage = (provider: Provider, method: string, path: string, headers: RawHeaders): boolean => {
  if (!provider.needsStreamUsageOption || method !== 'POST') return false;
  const dialect = dialectOf(method, path);
  if (dialect !== 'openai-chat' && dialect !== 'openai-completions') return false;
  if (!/^application\/json/i.test(headerValue(headers, 'content-type') ?? '')) return false;
  if (headerValue(headers, 'content-encoding') !== undefined) return false;
  if (headerValue(headers, 'x-service-usage')?.trim().toLowerCase() === 'off') return false;
  // Its length decides later.
  if (headerValue(headers, 'transfer-encoding') !== undefined) return true;
  const length = Number(headerValue(headers, 'content-length') ?? Number.NaN);
  return length > 0 && length <= MAX_BODY_BYTES;
};

/**
 * The body with the option added and no other byte changed. Undefined if the client set the option or sent more than 4 KB of
 * options, wants no stream, or the body is not a single JSON object. A promise for a large body, which is read in slices.
 */
export const askForUsage = (body: Buffer): Buffer | undefined | Promise<Buffer | undefined> => {
  // Does not find a name written with escapes; the usage of such a stream is estimated.
  if (!body.includes(STREAM)) return undefined;
  let stream = false;
  let options: string | undefined;
  let areOptionsTooLong = false;
  let documents = 0;
  const picker = new JsonPicker(
    { stream: 'stream', stream_options: 'options' },
    {
      value: (name, json) => {
        if (name === 'stream') stream = json.trim() === 'true';
        else options = json;
      },
      tooLong: () => {
        areOptionsTooLong = true;
      },
      documentEnd: () => {
        documents++;
      },
    },
    4096,
  );
  const extended = (): Buffer | undefined => {
    // Options that were not kept may have the member already.
    if (!stream || areOptionsTooLong || documents !== 1 || picker.insideDocument) return undefined;
    return options === undefined ? append(body) : extend(body, options);
  };
  const reading = writeInSlices(body, (slice) => picker.write(slice));
  return reading ? reading.then(extended) : extended();
};

/** Adds the option before the object's closing brace. */
const append = (body: Buffer): Buffer | undefined => {
  const end = body.lastIndexOf('}');
  if (
    body
      .subarray(end + 1)
      .toString('latin1')
      .trim() !== ''
  )
    return undefined;
  // The object has at least the member `stream`, so a comma is needed.
  return Buffer.concat([body.subarray(0, end), Buffer.from(`,${ASK}`), body.subarray(end)]);
};

const MEMBER = /"stream_options"\s*:\s*(null|\{)/g;

/** A letter or underscore written as an escape, as no encoder does: a name may hide behind it. */
const ESCAPED_LETTER = /\\u00[567]/i;

/** Adds the option to the client's object, or replaces null. Does not change the client's own `include_usage`. */
const extend = (body: Buffer, options: string): Buffer | undefined => {
  // latin1 keeps byte offsets.
  const text = body.toString('latin1');
  if (options.includes('"include_usage"') || ESCAPED_LETTER.test(text)) return undefined;
  // Quotes inside a string are escaped, so a match is a member. Of two matches, or where the client's value differs, one is nested: skip both.
  const [match, second] = text.matchAll(MEMBER);
  const [member = '', value = ''] = match ?? [];
  if (!match || second || !options.startsWith(value)) return undefined;
  const end = match.index + member.length;
  if (value === 'null') return Buffer.concat([body.subarray(0, match.index), Buffer.from(ASK), body.subarray(end)]);
  const comma = /^\{\s*\}$/.test(options) ? '' : ',';
  return Buffer.concat([body.subarray(0, end), Buffer.from(`"include_usage":true${comma}`), body.subarray(end)]);
};

/**
 * Headers for an extended body: its length (in place of chunks, too), and no compression of the response, because a filter must read it. All others
 * stay.
 */
export const headersForAskedUsage = (headers: readonly string[], bodyBytes: number): string[] => {
  const result: string[] = [];
  let hasLength = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === 'accept-encoding') continue;
    if (name === 'content-length') hasLength = true;
    result.push(headers[i] as string, name === 'content-length' ? String(bodyBytes) : (headers[i + 1] as string));
  }
  if (!hasLength) result.push('Content-Length', String(bodyBytes));
  return [...result, 'Accept-Encoding', 'identity'];
};
