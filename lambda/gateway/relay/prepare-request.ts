import { Readable } from 'node:stream';
import type { Admitted } from '../admission/admit.ts';
import { PIECE_BYTES } from '../meter/decoder.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { upstreamRequestHeaders } from '../protocol/headers.ts';
import type { UpstreamRequest } from '../upstream/upstream.ts';
import { askForUsage, headersForAskedUsage, MAX_BODY_BYTES, mayAskForUsage } from './usage-option.ts';

/** As many as four of the largest bodies that are read whole, or a thousand of 64 KB. */
const MAX_ACCOUNT_BYTES = 64 * 2 ** 20;

const bytesOfAccount = new Map<string, number>();

/** Bytes of one request's body that are in memory. */
interface BodyMemory {
  /** False where the account would hold too many: then they are not counted. */
  add(bytes: number): boolean;
  /** May be called again. */
  release(): void;
}

/**
 * Bounds what one account's bodies take in this process while they are read whole.
 *
 * @param account any name that its requests share
 */
export const bodyMemory = (account: string): BodyMemory => {
  let taken = 0;
  return {
    add: (bytes) => {
      const total = (bytesOfAccount.get(account) ?? 0) + bytes;
      if (total > MAX_ACCOUNT_BYTES) return false;
      bytesOfAccount.set(account, total);
      taken += bytes;
      return true;
    },
    release: () => {
      const left = (bytesOfAccount.get(account) ?? 0) - taken;
      taken = 0;
      if (left > 0) bytesOfAccount.set(account, left);
      else bytesOfAccount.delete(account);
    },
  };
};

export interface PreparedRequest {
  readonly upstream: UpstreamRequest;
  /** The client's whole body; null if it is still arriving. */
  readonly wholeBody: Buffer | null;
  /** The gateway requested the stream's usage for the client; a filter removes what that adds to the response. */
  readonly askedForUsage: boolean;
  /** Called when the body need not be in memory any more; undefined where it never was, or the host holds it. */
  readonly releaseBody?: () => void;
}

/**
 * A chunked body that has not ended after this time is forwarded as it arrives, without the option: its client may be waiting for
 * the provider's first word before it goes on.
 */
const MAX_CHUNKED_BODY_MS = 10_000;

/**
 * Resolves with the whole body; with the chunks so far if a bounded one is too long or too slow, or the account holds too many bytes:
 * then the body is paused behind them. Rejects when the client interrupts it.
 */
const readBody = (
  body: Readable,
  isBounded: boolean,
  taken: BodyMemory,
): Promise<{ chunks: Buffer[]; isWhole: boolean }> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      clearTimeout(timer);
      body.off('data', take).off('end', end).off('error', fail).off('close', fail);
    };
    const resolveWith = (isWhole: boolean): void => {
      stop();
      resolve({ chunks, isWhole });
    };
    const leave = (): void => {
      body.pause();
      resolveWith(false);
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length + PIECE_BYTES;
      if (!taken.add(chunk.length + PIECE_BYTES) || (isBounded && bytes > MAX_BODY_BYTES)) leave();
    };
    const end = (): void => resolveWith(true);
    const fail = (): void => {
      stop();
      taken.release();
      reject(new Error('the client interrupted its request'));
    };
    const timer = isBounded ? setTimeout(leave, MAX_CHUNKED_BODY_MS) : undefined;
    body.on('data', take).on('end', end).on('error', fail).on('close', fail);
  });

/**
 * Builds the request for the provider. Synchronous, with the body still streaming, unless the gateway may have to request the
 * stream's usage: then it reads the whole body first, and rejects when the client interrupts it.
 *
 * @param path the target without its query
 * @param wantsBody read the whole body, up to MAX_BODY_BYTES, even if nothing is added to it
 */
export const prepareRequest = (
  request: GatewayRequest,
  { provider, owner, serviceKey }: Admitted,
  origin: string,
  target: string,
  path: string,
  wantsBody = false,
): PreparedRequest | Promise<PreparedRequest> => {
  const host = origin.slice(origin.indexOf('//') + 2);
  const upstream: UpstreamRequest = {
    method: request.method,
    origin,
    target,
    ...upstreamRequestHeaders(request.headers, host, request.method),
    body: request.body,
  };
  const mayAsk = mayAskForUsage(provider, request.method, path, request.headers);
  if (request.body === null || !(mayAsk || wantsBody))
    return { upstream, wholeBody: Buffer.isBuffer(request.body) ? request.body : null, askedForUsage: false };
  const withBody = (body: Buffer): PreparedRequest | Promise<PreparedRequest> => {
    const extended = mayAsk ? askForUsage(body) : undefined;
    return extended instanceof Promise
      ? extended.then((read) => withExtended(body, read))
      : withExtended(body, extended);
  };
  const withExtended = (body: Buffer, extended: Buffer | undefined): PreparedRequest => {
    const headers = extended && headersForAskedUsage(upstream.headers, extended.length);
    const changes = headers ? { headers, framing: 'length' as const, body: extended } : { body };
    return { upstream: { ...upstream, ...changes }, wholeBody: body, askedForUsage: extended !== undefined };
  };
  const { body } = request;
  if (Buffer.isBuffer(body)) return withBody(body);
  const isChunked = upstream.framing === 'chunked';
  const taken = bodyMemory(owner?.accountId ?? serviceKey);
  return readBody(body, isChunked || !mayAsk, taken).then(async ({ chunks, isWhole }) => {
    const read = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    if (isWhole) {
      const prepared = { ...(await withBody(read)), releaseBody: taken.release };
      // Unchanged, so it stays chunked.
      if (!isChunked || prepared.askedForUsage) return prepared;
      return { ...prepared, upstream: { ...upstream, body: Readable.from([read], { objectMode: false }) } };
    }
    taken.release();
    if (read.length > 0) body.unshift(read);
    return { upstream, wholeBody: null, askedForUsage: false };
  });
};
