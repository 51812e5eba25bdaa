/**
 * Headers travel as flat arrays, name, value, name, value, as Node's HTTP gives them: order, case, duplicates and bytes
 * (latin1) stay as they were.
 */
export type RawHeaders = readonly string[];

/** Meant for one connection only. @see https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Ours, the platform's or the route's: none of the provider's business. `expect` is answered by us. */
const requestOnly = new Set(['host', 'expect', 'forwarded', 'via', 'x-real-ip', 'trailer']);
const requestPrefixes = ['x-service-', 'x-forwarded-', 'x-amzn-', 'cloudfront-'];

/** What the client asked us for, and what we add to every forwarded answer ourselves. */
const answeredByUs = new Set(['x-service-route', 'x-service-request-id']);

/** The value of a header by lower-case name; several of that name are joined as RFC 9110 section 5.3 says; undefined when absent. */
export const headerValue = (headers: RawHeaders, name: string): string | undefined => {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const candidate = headers[i] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  }
  return found;
};

/** `Connection` may not name them (RFC 9110 section 7.6.1): without its length a body would be taken for the next request. */
const framingHeaders = new Set(['content-length', 'transfer-encoding', 'host']);

/** Names that this message's `Connection` header makes hop-by-hop. */
const connectionNames = (headers: RawHeaders): Set<string> | undefined => {
  const value = headerValue(headers, 'connection');
  if (value === undefined || /^(keep-alive|close)$/i.test(value)) return undefined;
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => !framingHeaders.has(name)));
};

/** A body's framing as the client sent it. `none`: no body, and none announced. */
export type Framing = 'length' | 'chunked' | 'none';

/**
 * The headers that go upstream: the client's less hop-by-hop ones, `Host`, ours (`X-Service-*`) and the route's
 * (`X-Forwarded-*`, `Via`, `X-Amzn-*`, `CloudFront-*` …), under the provider's host.
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
    if (requestPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    result.push(headers[i] as string, headers[i + 1] as string);
  }
  // Node would announce a chunked body for these methods, though none was sent.
  if (framing === 'none' && /^(POST|PUT|PATCH)$/.test(method)) result.push('Content-Length', '0');
  return { headers: result, framing };
};

/**
 * The headers that go to the client: the provider's less hop-by-hop ones, plus ours.
 * `Transfer-Encoding` is dropped because the next hop frames the body anew; the bytes inside stay as they are.
 *
 * @param bodyIsFiltered the body will be shorter than announced, so its length is left out
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
    if (hopByHop.has(name) || answeredByUs.has(name) || named?.has(name)) continue;
    if (bodyIsFiltered && name === 'content-length') continue;
    result.push(headers[i] as string, headers[i + 1] as string);
  }
  result.push('X-Service-Route', route, 'X-Service-Request-Id', requestId);
  return result;
};
