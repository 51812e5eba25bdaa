import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';

/** A request's own signature, in its headers or, as a link, in its query string. */
interface Signature {
  /** `{date}/{region}/{service}/aws4_request` */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `20261120T192544Z` */
  readonly time: string;
  /** Hash of the body; undefined where only the body shows it. */
  readonly payloadHash: string | undefined;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8}\/[^/]+\/[^/]+\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

type Parameters = readonly (readonly [name: string, value: string])[];

const parametersOf = (query: string): Parameters =>
  query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))] as const;
    });

const inHeaders = ({ headers }: IncomingMessage): Signature | undefined => {
  const [, scope, signedHeaders, signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (scope === undefined || signedHeaders === undefined || signature === undefined) return undefined;
  const payloadHash = headers['x-amz-content-sha256'];
  return {
    scope,
    signedHeaders: signedHeaders.split(';'),
    signature,
    time: String(headers['x-amz-date']),
    payloadHash: payloadHash === undefined ? undefined : String(payloadHash),
  };
};

/** Undefined for a link that has expired, too. */
const inLink = (parameters: Parameters): Signature | undefined => {
  const values = new Map(parameters);
  const time = values.get('X-Amz-Date') ?? '';
  const signedAtMs = Date.parse(time.replace(TIME, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Date.now() < signedAtMs + Number(values.get('X-Amz-Expires')) * 1_000)) return undefined;
  return {
    scope: (values.get('X-Amz-Credential') ?? '').replace(/^[^/]*\//, ''),
    signedHeaders: (values.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: values.get('X-Amz-Signature') ?? '',
    time,
    payloadHash: 'UNSIGNED-PAYLOAD',
  };
};

/** Reads the whole body and puts it back: whoever reads it next gets it from its beginning. */
const peekBody = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const take = () => {
      for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read()) chunks.push(chunk);
      if (!request.complete) return;
      request.off('readable', take).off('error', reject);
      const body = Buffer.concat(chunks);
      if (body.length > 0) request.unshift(body);
      resolve(body);
    };
    request.on('readable', take).once('error', reject);
  });

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Whether a request or a link was signed with this secret (Signature Version 4), and the link has not expired. Any access key id will do.
 * A hash that a request gives of its own body is believed.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
const isSigned = async (request: IncomingMessage, secretAccessKey: string): Promise<boolean> => {
  const [, path = '/', query = ''] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '/') ?? [];
  const parameters = parametersOf(query);
  const given = inHeaders(request) ?? inLink(parameters);
  if (given === undefined) return false;
  const { scope, signedHeaders, signature, time } = given;
  const [, , service] = scope.split('/');
  const payloadHash = given.payloadHash ?? hash('sha256', await peekBody(request));
  const canonical = [
    request.method,
    service === 's3' ? path : path.split('/').map(encoded).join('/'),
    parameters
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => [encoded(name), encoded(value)] as const)
      .sort(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1))
      .map((pair) => pair.join('='))
      .join('&'),
    ...signedHeaders.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const expected = hmac(key as Buffer, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical)}`);
  const found = Buffer.from(signature, 'hex');
  return found.length === expected.length && timingSafeEqual(found, expected);
};

/** Who may send requests to an emulator. */
export interface Access {
  /** Requests are signed with it, whatever their access key id. */
  readonly secretAccessKey: string;
  /** Requests that need no signature: a page for people, and calls that AWS takes unsigned. */
  readonly isOpen?: (request: IncomingMessage) => boolean;
}

/** The secret of tests and measurements. The stack makes one at each start. */
export const KNOWN_SECRET = 'local';

const LOOPBACK = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

/**
 * Why a request is refused. A page of any website can send requests to this machine: it says its origin, or calls this machine by a name
 * of its own (DNS rebinding), and does not know the secret.
 */
const refusalOf = async (request: IncomingMessage, access: Access): Promise<string | undefined> => {
  const { host = '', origin } = request.headers;
  if (!LOOPBACK.test(host)) return 'Call it by 127.0.0.1 or localhost.';
  if (origin !== undefined && origin !== `http://${host}`) return 'Pages of other origins may not call it.';
  if (access.isOpen?.(request) === true || (await isSigned(request, access.secretAccessKey))) return undefined;
  return 'The request is not signed with the secret in commands.env, or its link has expired.';
};

const refuse = (response: ServerResponse, message: string): void => {
  response
    .writeHead(403, { 'content-type': 'application/x-amz-json-1.1', connection: 'close' })
    .end(JSON.stringify({ __type: 'AccessDeniedException', message }));
};

/** Calls the listener with the requests that may pass. */
export const guarded =
  (access: Access, listener: RequestListener): RequestListener =>
  (request, response) => {
    refusalOf(request, access).then(
      (refusal) => (refusal === undefined ? listener(request, response) : refuse(response, refusal)),
      () => refuse(response, 'The request cannot be read.'),
    );
  };

/** Guards every server of this thread: those of packages have no place for it. */
export const guardServers = (access: Access): void => {
  const emit = Server.prototype.emit;
  Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
    const pass = (...passed: unknown[]) => Reflect.apply(emit, this, [event, ...passed]);
    if (event !== 'request') return pass(...args);
    guarded(access, pass)(args[0] as IncomingMessage, args[1] as ServerResponse & { req: IncomingMessage });
    return true;
  };
};
