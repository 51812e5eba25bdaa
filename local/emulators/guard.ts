import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import { isSigned } from './signature.ts';

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
