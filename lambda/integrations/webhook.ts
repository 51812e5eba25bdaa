import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type RequestOptions, request } from 'node:https';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/*
 * Own code, since ipaddr.js 2.5.0 calls `::7f00:1` (127.0.0.1 as IPv4-compatible IPv6) and all unassigned IPv6 space unicast, and
 * adds 12 kB to a bundle. The tests compare both.
 */

/** Networks that are not the public internet. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const specialV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local; clouds have their metadata services here.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Special networks inside 2000::/3, the only range of global unicast. @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const specialV6: readonly (readonly [string, number])[] = [
  // Protocol assignments, including Teredo.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4: routes to the IPv4 address inside it.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [net, prefix] of specialV4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of specialV6) special.addSubnet(net, prefix, 'ipv6');
const globalUnicastV6 = new BlockList();
globalUnicastV6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address belongs to the public internet. An IPv6 address that contains an IPv4 address never does.
 *
 * @param address a valid IPv4 or IPv6 address
 */
export const isPublicAddress = (address: string): boolean =>
  isIPv6(address)
    ? globalUnicastV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
    : !special.check(address, 'ipv4');

/** The webhook could not be called, or did not respond with 2xx. The message is short and contains nothing of the response. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** Status of the response, if there was one. */
  readonly status: number | undefined;
  /** As the response asks for it. */
  readonly retryAfterSeconds: number | undefined;
  /** Another attempt cannot succeed. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    facts: { readonly status?: number; readonly retryAfterSeconds?: number | undefined; readonly isFinal?: true } = {},
  ) {
    super(message);
    this.status = facts.status;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.isFinal = facts.isFinal ?? false;
  }
}

export interface WebhookAccess {
  /** Returns all addresses of a host name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Ports that may be called; undefined for all. */
  readonly ports?: readonly number[];
  /** Host names that may have addresses which `isAllowed` refuses. */
  readonly internalHosts?: readonly string[];
  /** Limit for the DNS lookup, and again for the call. */
  readonly timeoutMs?: number;
  /** More options of node:https, such as a certificate authority. */
  readonly options?: RequestOptions;
}

const publicInternet: WebhookAccess = {
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
  isAllowed: isPublicAddress,
};

/** An operator may allow more than port 443 of public addresses: ports, and hosts inside the network of the functions. */
export interface WebhookTargets {
  readonly ports: readonly number[];
  readonly internalHosts: readonly string[];
}

/** The addresses that users' webhooks may reach. */
export const webhookAccess = ({ ports, internalHosts }: WebhookTargets): WebhookAccess => ({
  ...publicInternet,
  ports: [HTTPS_PORT, ...ports],
  internalHosts,
});

const HTTPS_PORT = 443;
const TIMEOUT_MS = 5_000;

/** Resolves a host name. Returns no addresses if the lookup fails or exceeds the timeout, because the name server may be hostile. */
const addressesOf = async (hostname: string, { resolve, timeoutMs = TIMEOUT_MS }: WebhookAccess) => {
  const timer = new AbortController();
  try {
    return await Promise.race([
      resolve(hostname).catch(() => []),
      pause<readonly string[]>(timeoutMs, [], { signal: timer.signal }),
    ]);
  } finally {
    timer.abort();
  }
};

export interface Target {
  readonly url: URL;
  readonly address: string;
}

/** Without the brackets of an IPv6 address. */
const hostnameOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Options that connect to exactly the address that was checked, once. */
export const connectionTo = ({ url, address }: Target, timeoutMs: number): RequestOptions => {
  const isSecure = url.protocol === 'https:';
  return {
    host: address,
    port: url.port || (isSecure ? HTTPS_PORT : 80),
    path: `${url.pathname}${url.search}`,
    // The certificate is for the name, not for the address.
    ...(isSecure && isIP(hostnameOf(url)) === 0 && { servername: url.hostname }),
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  };
};

/** Rejects a name if any of its addresses is not public, because a client may connect to any of them. */
export const targetOf = async (text: string, access: WebhookAccess = publicInternet): Promise<Target> => {
  if (!URL.canParse(text)) throw new WebhookError('must be a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new WebhookError('must begin with https://');
  if (url.username !== '' || url.password !== '') throw new WebhookError('must not contain a user name or password');
  if (access.ports?.includes(Number(url.port || HTTPS_PORT)) === false)
    throw new WebhookError(`must have one of the ports ${access.ports.join(', ')}`);
  const hostname = hostnameOf(url);
  const addresses = isIP(hostname) === 0 ? await addressesOf(hostname, access) : [hostname];
  const [address] = addresses;
  if (address === undefined) throw new WebhookError('its host cannot be found');
  if (!access.internalHosts?.includes(hostname) && !addresses.every(access.isAllowed))
    throw new WebhookError('its host must have public addresses only');
  return { url, address };
};

/** The problem with a webhook URL, as a message to its user; undefined if there is none. */
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
 * Only a server that speaks TLS has a certificate. All other failures have one text: closed ports, filtered ports and ports of
 * other protocols must look alike. @see https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const UNREACHABLE = 'it cannot be reached, or does not respond in time';
const CERTIFICATE_ERROR = /CERT|^ERR_TLS_|^UNABLE_TO_|^SELF_SIGNED|^HOSTNAME_MISMATCH/;

/**
 * `t=<epoch seconds>,v1=<hex HMAC-SHA-256 of "{t}.{body}">`. The receiver computes the same value and rejects old times.
 * Stripe's webhooks use the same scheme. @see https://docs.stripe.com/webhooks#verify-manually
 */
const webhookSignature = (secret: string, body: string, now: Date): string => {
  const t = Math.floor(now.getTime() / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};

/** Seconds from a Retry-After header; undefined without a valid one. @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
const retryAfterOf = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now.getTime()) / 1000;
  return seconds >= 0 ? seconds : undefined;
};

export interface PostTarget {
  readonly url: string;
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As `postWebhook`, for the addresses that may be called. */
export type PostJson = (target: PostTarget, body: string, now: Date) => Promise<void>;

/**
 * Posts JSON to a webhook, signed if it has a secret. Checks the address again and connects to exactly that address, so that a later DNS change has no
 * effect. Does not follow redirects.
 *
 * @throws WebhookError
 */
export const postWebhook = async (
  webhook: PostTarget,
  body: string,
  now: Date,
  access: WebhookAccess = publicInternet,
): Promise<void> => {
  const target = await targetOf(webhook.url, access);
  const { status, retryAfter } = await new Promise<{ status: number; retryAfter: string | undefined }>(
    (resolve, reject) => {
      const call = request(
        {
          ...access.options,
          ...connectionTo(target, access.timeoutMs ?? TIMEOUT_MS),
          method: 'POST',
          headers: {
            ...webhook.headers,
            Host: target.url.host,
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            'User-Agent': 'ai-spend-gateway',
            ...(webhook.secret !== undefined && { 'X-Service-Signature': webhookSignature(webhook.secret, body, now) }),
          },
        },
        (response) => {
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
          // The body is not used and may be endless.
          response.destroy();
        },
      );
      const fail = (message: string) => reject(new WebhookError(message));
      call.on('error', ({ code = '' }: NodeJS.ErrnoException) =>
        fail(CERTIFICATE_ERROR.test(code) ? `its certificate is not accepted (${code})` : UNREACHABLE),
      );
      // An unrequested 101 closes the connection without an error.
      call.on('close', () => fail(UNREACHABLE));
      call.end(body);
    },
  );
  if (status < 200 || status > 299)
    throw new WebhookError(`it responded with ${status}`, { status, retryAfterSeconds: retryAfterOf(retryAfter, now) });
};

export const webhookPoster =
  (access: WebhookAccess): PostJson =>
  (target, body, now) =>
    postWebhook(target, body, now, access);
