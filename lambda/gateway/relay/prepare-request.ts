import type { Readable } from 'node:stream';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { upstreamRequestHeaders } from '../protocol/headers.ts';
import type { UpstreamRequest } from '../upstream/upstream.ts';
import { askForUsage, headersForAskedUsage, mayAskForUsage } from './usage-option.ts';

export interface PreparedRequest {
  readonly upstream: UpstreamRequest;
  /** The client's body where it is here whole. */
  readonly gathered: Buffer | null;
  /** The gateway asked for the stream's usage in the client's stead: what that adds to the answer is taken out again. */
  readonly askedForUsage: boolean;
}

/** The whole body; rejects when the client breaks it off. */
const gather = (body: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    let whole = false;
    body.on('end', () => {
      whole = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    body.on('error', reject);
    body.on('close', () => {
      if (!whole) reject(new Error('the client broke off its request'));
    });
  });

/**
 * What goes upstream for a client's request. At once, with the body as it comes; only where the gateway may have to ask for
 * the usage of a stream is the body gathered first. Rejects when the client breaks off while it is.
 *
 * @param path the target without its query
 */
export const prepareRequest = (
  request: GatewayRequest,
  { provider }: Admitted,
  origin: string,
  target: string,
  path: string,
): PreparedRequest | Promise<PreparedRequest> => {
  const host = origin.slice(origin.indexOf('//') + 2);
  const upstream: UpstreamRequest = {
    method: request.method,
    origin,
    target,
    ...upstreamRequestHeaders(request.headers, host, request.method),
    body: request.body,
  };
  if (request.body === null || !mayAskForUsage(provider, request.method, path, request.headers))
    return { upstream, gathered: Buffer.isBuffer(request.body) ? request.body : null, askedForUsage: false };
  const withBody = (body: Buffer): PreparedRequest => {
    const asking = askForUsage(body);
    if (!asking) return { upstream: { ...upstream, body }, gathered: body, askedForUsage: false };
    const headers = headersForAskedUsage(upstream.headers, asking.length);
    return { upstream: { ...upstream, headers, body: asking }, gathered: body, askedForUsage: true };
  };
  return Buffer.isBuffer(request.body) ? withBody(request.body) : gather(request.body).then(withBody);
};
