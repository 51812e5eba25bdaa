import type { Readable } from 'node:stream';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { upstreamRequestHeaders } from '../protocol/headers.ts';
import type { UpstreamRequest } from '../upstream/upstream.ts';
import { askForUsage, headersForAskedUsage, mayAskForUsage } from './usage-option.ts';

export interface PreparedRequest {
  readonly upstream: UpstreamRequest;
  /** The client's whole body; null if it is still arriving. */
  readonly wholeBody: Buffer | null;
  /** The gateway requested the stream's usage for the client; a filter removes what that adds to the response. */
  readonly askedForUsage: boolean;
}

/** Resolves with the whole body. Rejects when the client interrupts it. */
const readWhole = (body: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    let ended = false;
    body.on('end', () => {
      ended = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    body.on('error', reject);
    body.on('close', () => {
      if (!ended) reject(new Error('the client interrupted its request'));
    });
  });

/**
 * Builds the request for the provider. Synchronous, with the body still streaming, unless the gateway may have to request the
 * stream's usage: then it reads the whole body first, and rejects when the client interrupts it.
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
    return { upstream, wholeBody: Buffer.isBuffer(request.body) ? request.body : null, askedForUsage: false };
  const withBody = (body: Buffer): PreparedRequest => {
    const extended = askForUsage(body);
    if (!extended) return { upstream: { ...upstream, body }, wholeBody: body, askedForUsage: false };
    const headers = headersForAskedUsage(upstream.headers, extended.length);
    return { upstream: { ...upstream, headers, body: extended }, wholeBody: body, askedForUsage: true };
  };
  return Buffer.isBuffer(request.body) ? withBody(request.body) : readWhole(request.body).then(withBody);
};
