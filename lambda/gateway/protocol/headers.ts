/**
 * Headers as a flat array of names and values, as Node gives them. Order, case, duplicates and bytes (latin1) stay
 * unchanged.
 */
export type RawHeaders = readonly string[];

/** Headers for one connection only. @see https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
export const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Request headers that are not forwarded: ours, the platform's, and those of the route. The gateway itself handles `expect`. */
const requestOnly = new Set(['host', 'expect', 'forwarded', 'via', 'x-real-ip', 'trailer']);
/**
 * The same by prefix, and headers for another gateway (Portkey, LiteLLM, Cloudflare AI Gateway, Helicone), credentials for it among
 * them: that gateway keeps them from the provider, and a client that calls the provider directly has no reason to send them. Settings of
 * a call to Bedrock (its guardrail) begin as the platform's do.
 */
const requestPrefix =
  /^(?:x-(?:service-|forwarded-|amzn-(?!bedrock-)|portkey-|litellm-)|cloudfront-|cf-aig-|helicone-)/;

/** Response headers that the gateway sets itself. */
const setByGateway = new Set(['x-service-route', 'x-service-request-id']);

/**
 * The value of a header, undefined when absent. Several headers of one name are joined (RFC 9110 section 5.3).
 *
 * @param name lower case
 */
export const headerValue = (headers: RawHeaders, name: string): string | undefined => {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const candidate = headers[i] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  }
  return found;
};

/** All headers by lower-case name. Several headers of one name are joined, as in `headerValue`. */
export const headersByName = (headers: RawHeaders): ReadonlyMap<string, string> => {
  const byName = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    const before = byName.get(name);
    byName.set(name, before === undefined ? (headers[i + 1] as string) : `${before}, ${headers[i + 1]}`);
  }
  return byName;
};

/** The headers without those of some names, which are in lower case. */
export const withoutHeaders = (headers: RawHeaders, names: ReadonlySet<string>): string[] => {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (!names.has((headers[i] as string).toLowerCase())) kept.push(headers[i] as string, headers[i + 1] as string);
  return kept;
};

/** The head of a response for a bare socket, as latin1 text. */
export const responseHead = (status: number, statusMessage: string, headers: RawHeaders): string => {
  let head = `HTTP/1.1 ${status} ${statusMessage}\r\n`;
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${head}\r\n`;
};

/** `Connection` may not name these (RFC 9110 section 7.6.1): a body without its length would be read as the next request. */
const framingHeaders = new Set(['content-length', 'transfer-encoding', 'host']);

/** The names that the `Connection` header makes hop-by-hop. */
const connectionNames = (headers: RawHeaders): Set<string> | undefined => {
  const value = headerValue(headers, 'connection');
  if (value === undefined || /^(keep-alive|close)$/i.test(value)) return undefined;
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => !framingHeaders.has(name)));
};

/** The framing of the client's body. `none`: neither a body nor a header that announces one. */
export type Framing = 'length' | 'chunked' | 'none';

/**
 * The headers for the provider: the client's without `Host`, hop-by-hop headers, ours (`X-Service-*`) and those of the
 * route (`X-Forwarded-*`, `Via`, `X-Amzn-*`, `CloudFront-*` …), and those for other gateways (`Helicone-*` …).
 *
 * @param host the provider's host (and port)
 */
export const upstreamRequestHeaders = (
  headers: RawHeaders,
  host: string,
  method: string,
): { headers: string[]; framing: Framing } => {
  const named = connectionNames(headers);
  const result = ['Host', host];
  let framing: Framing = 'none';
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === 'transfer-encoding') framing = 'chunked';
    else if (name === 'content-length' && framing === 'none') framing = 'length';
    if (hopByHop.has(name) || requestOnly.has(name) || named?.has(name)) continue;
    if (requestPrefix.test(name)) continue;
    result.push(headers[i] as string, headers[i + 1] as string);
  }
  // Without a length, Node announces a chunked body for these methods.
  if (framing === 'none' && /^(POST|PUT|PATCH)$/.test(method)) result.push('Content-Length', '0');
  return { headers: result, framing };
};

/**
 * The headers for the client: the provider's without hop-by-hop headers, plus ours. `Transfer-Encoding` is dropped because
 * our server frames the body itself; the body's bytes do not change.
 *
 * @param bodyIsFiltered the body becomes shorter, so its length is dropped
 */
export const clientResponseHeaders = (
  headers: RawHeaders,
  route: 'governed' | 'bypassed',
  requestId: string,
  bodyIsFiltered = false,
): string[] => {
  const named = connectionNames(headers);
  const result: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (hopByHop.has(name) || setByGateway.has(name) || named?.has(name)) continue;
    if (bodyIsFiltered && name === 'content-length') continue;
    result.push(headers[i] as string, headers[i + 1] as string);
  }
  result.push('X-Service-Route', route, 'X-Service-Request-Id', requestId);
  return result;
};
