import type { ClientResponse, GatewayRequest } from './client.ts';
import { headerValue, withoutHeaders } from './headers.ts';

/** A day: browsers keep a preflight's result for two hours to a day, whatever is allowed. */
const MAX_AGE_SECONDS = 86_400;
const allowHeaders = new Set(['access-control-allow-origin', 'access-control-expose-headers', 'vary']);

/** A browser's question whether a page may send a request. @see https://fetch.spec.whatwg.org/#cors-preflight-request */
export const isPreflight = ({ method, headers }: GatewayRequest): boolean =>
  method === 'OPTIONS' &&
  headerValue(headers, 'origin') !== undefined &&
  headerValue(headers, 'access-control-request-method') !== undefined;

/** The request's origin where its pages may call the gateway. */
export const allowedOriginOf = (
  { headers }: GatewayRequest,
  allowedOrigins: ReadonlySet<string>,
): string | undefined => {
  if (allowedOrigins.size === 0) return undefined;
  const origin = headerValue(headers, 'origin');
  return origin !== undefined && allowedOrigins.has(origin) ? origin : undefined;
};

/** Allows what the browser asks for: any method and header, since those are the provider's to judge. */
export const sendPreflight = ({ headers }: GatewayRequest, client: ClientResponse, origin: string): void => {
  const method = headerValue(headers, 'access-control-request-method') as string;
  const names = headerValue(headers, 'access-control-request-headers');
  client.start(204, 'No Content', [
    ...['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Methods', method],
    ...(names === undefined ? [] : ['Access-Control-Allow-Headers', names]),
    ...['Access-Control-Max-Age', String(MAX_AGE_SECONDS)],
    ...['Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'],
  ]);
  client.end([]);
};

/** The client's side with headers that let pages of `origin` read the response. They replace the provider's of the same names. */
export const readableBy = (origin: string, client: ClientResponse): ClientResponse => ({
  start: (status, statusMessage, headers) => {
    const vary = headerValue(headers, 'vary');
    const kept = withoutHeaders(headers, allowHeaders);
    kept.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', '*');
    kept.push('Vary', vary === undefined ? 'Origin' : `Origin, ${vary}`);
    client.start(status, statusMessage, kept);
  },
  write: (chunk) => client.write(chunk),
  onDrain: (listener) => client.onDrain(listener),
  end: (trailers, last) => client.end(trailers, last),
  abort: () => client.abort(),
  onDisconnect: (listener) => client.onDisconnect(listener),
});
