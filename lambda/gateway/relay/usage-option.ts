import type { Provider } from '../../domain/providers.ts';
import { dialectOf } from '../../domain/usage/dialect.ts';
import { JsonPicker } from '../meter/json-picker.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';

/*
 * OpenAI-style streams tell their usage only when `stream_options.include_usage` asks for it. Where the client did not ask,
 * the gateway does, and takes what that adds to the answer out again: see usage-chunk-filter.ts.
 * @see https://platform.openai.com/docs/api-reference/chat/create#chat_create-stream_options
 */

/**
 * Bodies up to this are gathered before they are forwarded. The provider cannot begin before it has the whole body either,
 * so what this adds is the body's way from here to the provider, at a data centre's speed.
 */
const MAX_BODY_BYTES = 16 * 2 ** 20;

const STREAM = '"stream"';
const ASK = '"stream_options":{"include_usage":true}';

/** True where the option may be added: the body is then gathered and looked at. */
export const mayAskForUsage = (provider: Provider, method: string, path: string, headers: RawHeaders): boolean => {
  if (!provider.needsStreamUsageOption || method !== 'POST') return false;
  const dialect = dialectOf(method, path);
  if (dialect !== 'openai-chat' && dialect !== 'openai-completions') return false;
  if (!/^application\/json/i.test(headerValue(headers, 'content-type') ?? '')) return false;
  if (headerValue(headers, 'content-encoding') !== undefined) return false;
  if (headerValue(headers, 'x-service-usage')?.trim().toLowerCase() === 'off') return false;
  const length = Number(headerValue(headers, 'content-length') ?? Number.NaN);
  return length > 0 && length <= MAX_BODY_BYTES;
};

/**
 * The body with the option added, everything else byte for byte as it was; undefined where the client asked itself, wants no
 * stream, or the body is not one JSON object.
 */
export const askForUsage = (body: Buffer): Buffer | undefined => {
  // A name written with escapes is asked for nothing: its stream is estimated.
  if (!body.includes(STREAM)) return undefined;
  let stream = false;
  let options: string | undefined;
  let documents = 0;
  const picker = new JsonPicker(
    { stream: 'stream', stream_options: 'options' },
    {
      value: (name, json) => {
        if (name === 'stream') stream = json.trim() === 'true';
        else options = json;
      },
      tooLong: () => {
        options = 'too long to be looked at';
      },
      documentEnd: () => {
        documents++;
      },
    },
    4096,
  );
  picker.write(body);
  if (!stream || documents !== 1 || picker.insideDocument) return undefined;
  return options === undefined ? append(body) : extend(body, options);
};

/** Before the object's closing brace. */
const append = (body: Buffer): Buffer | undefined => {
  const end = body.lastIndexOf('}');
  if (
    body
      .subarray(end + 1)
      .toString('latin1')
      .trim() !== ''
  )
    return undefined;
  // `stream` is among its members, so a comma is due.
  return Buffer.concat([body.subarray(0, end), Buffer.from(`,${ASK}`), body.subarray(end)]);
};

const MEMBER = /"stream_options"\s*:\s*(null|\{)/g;

/** Into an object that is there but does not say, or in place of null. A client's own `include_usage` is left alone. */
const extend = (body: Buffer, options: string): Buffer | undefined => {
  if (options.includes('"include_usage"')) return undefined;
  // latin1 keeps byte offsets. Inside a string the quotes would be escaped, so a match is a member; two are one too many to tell apart.
  const [match, second] = body.toString('latin1').matchAll(MEMBER);
  if (!match || second) return undefined;
  const end = match.index + match[0].length;
  if (match[1] === 'null') return Buffer.concat([body.subarray(0, match.index), Buffer.from(ASK), body.subarray(end)]);
  const comma = /^\{\s*\}$/.test(options) ? '' : ',';
  return Buffer.concat([body.subarray(0, end), Buffer.from(`"include_usage":true${comma}`), body.subarray(end)]);
};

/**
 * Headers of a request whose body was extended: its new length, and no compression of the answer, since a filter is to read
 * it. Everything else stays.
 */
export const headersForAskedUsage = (headers: readonly string[], bodyBytes: number): string[] => {
  const result: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === 'accept-encoding') continue;
    result.push(headers[i] as string, name === 'content-length' ? String(bodyBytes) : (headers[i + 1] as string));
  }
  return [...result, 'Accept-Encoding', 'identity'];
};
