import { places } from './client.ts';
import type { Exchange } from './recorder.ts';

/** Headers that belong to one connection or to the gateway; all others must arrive as they were sent. */
const OWN =
  /^(host|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|content-length|via|x-service-.*|x-forwarded-.*)$/i;

const headersOf = (flat: readonly string[], serviceKey: string): string => {
  const lines: string[] = [];
  for (let i = 0; i < flat.length; i += 2)
    if (!OWN.test(flat[i] as string)) lines.push(`${flat[i]}: ${flat[i + 1]?.replace(`${serviceKey}:`, '')}`);
  return lines.join('\n');
};

const pathOf = (path: string, serviceKey: string): string =>
  path
    .replace(/^\/gateway\/(\w+)(\/[^/]+)?/, (_, label, first = '') => (first === places[label] ? '' : first))
    .replace(`/${serviceKey}`, '') || '/';

/** The body without what the gateway adds to ask for a stream's usage. */
const withoutUsageOption = (body: Buffer): string =>
  body.toString('latin1').replace(/,?"stream_options":\{"include_usage":true\},?/, '');

/** The stream without the chunk that this adds. */
const withoutUsageChunk = (body: Buffer): string =>
  body.toString('latin1').replace(/data: \{[^\n]*"choices":\[\],[^\n]*\}\n\n/g, '');

export interface Comparison {
  /** Requests that reached the provider. */
  readonly forwarded: readonly { readonly client: Exchange; readonly provider: Exchange }[];
  /** Refused by the gateway, such as a WebSocket handshake. */
  readonly refused: readonly Exchange[];
  /** What differs between the two sides of the gateway; empty when all bytes are equal. */
  readonly differences: readonly string[];
}

const differencesOf = (client: Exchange, provider: Exchange, serviceKey: string): string[] => {
  const at = `${client.method} ${pathOf(client.path, serviceKey)}`;
  const asked = !client.requestBody.equals(provider.requestBody);
  const sameRequest = asked
    ? withoutUsageOption(client.requestBody) === withoutUsageOption(provider.requestBody)
    : true;
  const sameResponse = asked
    ? client.responseBody.toString('latin1') === withoutUsageChunk(provider.responseBody)
    : client.responseBody.equals(provider.responseBody);
  // A stream with the usage chunk is asked for without compression, so that the chunk can be removed.
  const compared = (headers: readonly string[]): string =>
    headersOf(headers, serviceKey)
      .split('\n')
      .filter((line) => !asked || !/^accept-encoding:/i.test(line))
      .join('\n');
  const before = compared(client.requestHeaders);
  const after = compared(provider.requestHeaders);
  return [
    ...(sameRequest ? [] : [`${at}: the request's body`]),
    ...(sameResponse ? [] : [`${at}: the response's body`]),
    ...(before === after ? [] : [`${at}: the request's headers`]),
    ...(client.status === provider.status ? [] : [`${at}: the status`]),
  ];
};

/** Compares what a client sent and got with what the provider got and sent, through the gateway. */
export const compare = (
  atClient: readonly Exchange[],
  atProvider: readonly Exchange[],
  serviceKey: string,
): Comparison => {
  const rest = [...atProvider];
  const forwarded: { client: Exchange; provider: Exchange }[] = [];
  const refused: Exchange[] = [];
  const differences: string[] = [];
  for (const client of atClient) {
    // Without its route, the response is the gateway's own.
    if (client.responseHeaders['x-service-route'] === undefined) {
      refused.push(client);
      continue;
    }
    const index = rest.findIndex(
      ({ method, path, requestBody }) =>
        method === client.method &&
        path === pathOf(client.path, serviceKey) &&
        withoutUsageOption(requestBody) === withoutUsageOption(client.requestBody),
    );
    const [provider] = index === -1 ? [] : rest.splice(index, 1);
    if (!provider)
      differences.push(`${client.method} ${pathOf(client.path, serviceKey)}: did not arrive as it was sent`);
    else {
      forwarded.push({ client, provider });
      differences.push(...differencesOf(client, provider, serviceKey));
    }
  }
  return { forwarded, refused, differences };
};

const last = (text: string, names: string): number | null => {
  const found = [...text.matchAll(new RegExp(`"(?:${names})":\\s*(\\d+)`, 'g'))].at(-1)?.[1];
  return found === undefined ? null : Number(found);
};

/** The tokens in a provider's response, read without the meter. Null where it reports none. */
export const reportedTokens = ({
  responseBody,
  responseHeaders,
}: Exchange): { input: number | null; output: number | null } => {
  // Amazon Bedrock has them in headers, or in the Base64 of events.
  const text = responseBody
    .toString('latin1')
    .replace(/"bytes":"([^"]+)"/g, (_, base64: string) => Buffer.from(base64, 'base64').toString());
  const all = `${JSON.stringify(responseHeaders).replace(/"(\d+)"/g, '$1')}${text}`;
  return {
    input: last(
      all,
      'prompt_tokens|input_tokens|promptTokenCount|inputTokens|inputTokenCount|x-amzn-bedrock-input-token-count',
    ),
    output: last(
      all,
      'completion_tokens|output_tokens|candidatesTokenCount|outputTokens|outputTokenCount|x-amzn-bedrock-output-token-count',
    ),
  };
};
