import { timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import aws4 from 'aws4';

/** The credential and the signature of a request, in its headers or, as a link, in its query string. */
interface Signature {
  /** `{access key id}/{date}/{region}/{service}/aws4_request` */
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  /** `20261120T192544Z` */
  readonly time: string;
  readonly isLink: boolean;
}

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Undefined for a link that has expired, too. */
const signatureOf = ({ headers, url = '/' }: IncomingMessage): Signature | undefined => {
  const [, ...inHeaders] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  const inLink = ['Credential', 'SignedHeaders', 'Signature'].map((name) => query.get(`X-Amz-${name}`) ?? '');
  const isLink = inHeaders.length === 0;
  const [credential = '', signedHeaders = '', signature = ''] = isLink ? inLink : inHeaders;
  const time = isLink ? (query.get('X-Amz-Date') ?? '') : String(headers['x-amz-date']);
  const signedAtMs = Date.parse(time.replace(TIME, '$1-$2-$3T$4:$5:$6Z'));
  if (isLink && !(Date.now() < signedAtMs + Number(query.get('X-Amz-Expires')) * 1_000)) return undefined;
  return { credential, signedHeaders, signature, time, isLink };
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

/**
 * Whether a request or a link was signed with this secret (Signature Version 4), and the link has not expired. Any access key id will do.
 * A hash that a request gives of its own body is believed.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
const isSigned = async (request: IncomingMessage, secretAccessKey: string): Promise<boolean> => {
  const { method = 'GET', url = '/', headers } = request;
  const given = signatureOf(request);
  if (given === undefined) return false;
  const [accessKeyId = '', , region = '', service = ''] = given.credential.split('/');
  const names = given.signedHeaders.split(';');
  const hasHash = given.isLink || names.includes('x-amz-content-sha256');
  const signed = {
    method,
    path: url.replace(/&?X-Amz-Signature=[^&]*/, ''),
    headers: Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')])),
    doNotModifyHeaders: true,
    extraHeadersToInclude: Object.fromEntries(names.map((name) => [name, true])),
    service,
    region,
    signQuery: given.isLink,
    ...(!hasHash && { body: await peekBody(request) }),
  };
  const signer = new aws4.RequestSigner(signed, { accessKeyId, secretAccessKey });
  signer.datetime = given.time;
  const expected = Buffer.from(signer.signature(), 'hex');
  const found = Buffer.from(given.signature, 'hex');
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
