import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type RequestOptions, request } from 'node:https';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isPublicAddress } from './public-address.ts';

/** The webhook cannot be called, or did not answer 2xx. The message is short and holds nothing of the answer. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

export interface WebhookAccess {
  /** Every address of a host name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
  /** For finding the address, and again for the call. */
  readonly timeoutMs?: number;
  /** More options of node:https, such as a certificate authority. */
  readonly options?: RequestOptions;
}

const publicInternet: WebhookAccess = {
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
  isAllowed: isPublicAddress,
};

const TIMEOUT_MS = 5_000;

/** A name server of somebody's may take as long as it likes: then the name has no address. */
const addressesOf = async (hostname: string, { resolve, timeoutMs = TIMEOUT_MS }: WebhookAccess) => {
  const isDone = new AbortController();
  try {
    return await Promise.race([
      resolve(hostname).catch(() => []),
      pause<readonly string[]>(timeoutMs, [], { signal: isDone.signal }),
    ]);
  } finally {
    isDone.abort();
  }
};

interface Target {
  readonly url: URL;
  readonly address: string;
}

/** Refuses a name as soon as one of its addresses is not public: which of them a client takes is a matter of chance. */
const targetOf = async (text: string, access: WebhookAccess): Promise<Target> => {
  if (!URL.canParse(text)) throw new WebhookError('must be a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new WebhookError('must begin with https://');
  if (url.username !== '' || url.password !== '') throw new WebhookError('must not hold a user name or password');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(hostname) === 0 ? await addressesOf(hostname, access) : [hostname];
  const [address] = addresses;
  if (address === undefined) throw new WebhookError('its host cannot be found');
  if (!addresses.every(access.isAllowed)) throw new WebhookError('its host must have public addresses only');
  return { url, address };
};

/** What is wrong with a webhook's URL, to say to who entered it; undefined where nothing is. */
export const webhookUrlProblem = async (
  url: string,
  access: WebhookAccess = publicInternet,
): Promise<string | undefined> => {
  try {
    await targetOf(url, access);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookError) return error.message;
    throw error;
  }
};

/**
 * `t=<epoch seconds>,v1=<hex HMAC-SHA-256 of "{t}.{body}">`: the receiver computes the same and refuses old times.
 * The scheme is that of Stripe's webhooks. @see https://docs.stripe.com/webhooks#verify-manually
 */
const webhookSignature = (secret: string, body: string, now: Date): string => {
  const t = Math.floor(now.getTime() / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};

/**
 * Posts JSON to a webhook. The address is checked again, and the connection goes to the very address that was checked: a name
 * that changes in between changes nothing. Redirects are not followed.
 *
 * @throws WebhookError
 */
export const postWebhook = async (
  webhook: { readonly url: string; readonly secret: string },
  body: string,
  now: Date,
  access: WebhookAccess = publicInternet,
): Promise<void> => {
  const { url, address } = await targetOf(webhook.url, access);
  const status = await new Promise<number>((resolve, reject) => {
    const call = request(
      {
        ...access.options,
        method: 'POST',
        host: address,
        port: url.port || 443,
        path: `${url.pathname}${url.search}`,
        // The certificate is that of the name, not of the address.
        ...(isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 && { servername: url.hostname }),
        headers: {
          Host: url.host,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': 'ai-spend-gateway',
          'X-Service-Signature': webhookSignature(webhook.secret, body, now),
        },
        agent: false,
        signal: AbortSignal.timeout(access.timeoutMs ?? TIMEOUT_MS),
      },
      (response) => {
        resolve(response.statusCode ?? 0);
        // What it says is of no interest, and may be endless.
        response.destroy();
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new WebhookError(
          error.name === 'TimeoutError' || error.name === 'AbortError'
            ? 'it did not answer in time'
            : `it cannot be reached (${error.code ?? 'error'})`,
        ),
      ),
    );
    call.end(body);
  });
  if (status < 200 || status > 299) throw new WebhookError(`it answered ${status}`);
};
