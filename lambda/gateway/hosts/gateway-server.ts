import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AwsCredentialsSource, environmentCredentials } from '../aws/aws-json.ts';
import { undiciTransport } from '../aws/transport-undici.ts';
import { composeGateway } from '../compose.ts';
import type { Gateway } from '../gateway.ts';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import type { RawHeaders } from '../protocol/headers.ts';
import { undiciUpstream } from '../upstream/upstream-undici.ts';

/** What stands in for the host and target of the request line: a label given by a path such as `/gateway/{label}/…`. */
export interface RequestOverride {
  readonly label?: string;
  readonly target?: string;
}

export interface GatewayServer {
  /** A `node:http` request listener. */
  handle(request: IncomingMessage, response: ServerResponse, override?: RequestOverride): void;
  /** Resolves when every event of the requests so far is delivered. Stop accepting requests first. */
  close(): Promise<void>;
}

/**
 * The gateway for a `node:http` server: the local stack's, a container's, a benchmark's.
 *
 * @param environment the variables of GatewayEnvironment, and AWS's own (region, endpoints, credentials)
 * @throws Error naming the variable that is missing or wrong
 */
export const createGatewayServer = (
  environment: Readonly<Record<string, string | undefined>>,
  credentials: AwsCredentialsSource = environmentCredentials(environment),
): GatewayServer => {
  const { gateway, tracker, upstream } = composeGateway(environment, credentials, {
    upstream: undiciUpstream,
    aws: undiciTransport,
  });
  let underWay = 0;
  let onLastOver = (): void => {};
  const over = (): void => {
    underWay -= 1;
    if (underWay === 0) onLastOver();
  };
  return {
    handle: (request, response, override) => {
      underWay += 1;
      void serveGateway(gateway, request, response, override).then(over, over);
    },
    close: async () => {
      // A request whose connection has just been closed has not handed its event over yet.
      if (underWay > 0)
        await new Promise<void>((resolve) => {
          onLastOver = resolve;
        });
      await tracker.drain();
      upstream.close();
    },
  };
};

/** Lets a gateway answer one request of a `node:http` server. Resolves when its event is delivered. */
export const serveGateway = (
  gateway: Gateway,
  request: IncomingMessage,
  response: ServerResponse,
  override?: RequestOverride,
): Promise<void> => gateway(gatewayRequest(request, override), new ServerClient(response));

const gatewayRequest = (request: IncomingMessage, override: RequestOverride | undefined): GatewayRequest => ({
  method: request.method ?? 'GET',
  host: request.headers.host,
  label: override?.label,
  target: override?.target ?? request.url ?? '/',
  headers: request.rawHeaders,
  body: request,
});

/** What Node takes from a provider in a reason phrase, and then refuses to send. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/g;

/** The client's side over Node's HTTP server. */
class ServerClient implements ClientResponse {
  readonly #response: ServerResponse;
  #begun = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.sendDate = false;
    // A write to a connection that is gone: `close` tells of it.
    response.on('error', ignore);
  }

  start(status: number, statusMessage: string, headers: string[]): void {
    this.#response.writeHead(status, statusMessage.replace(UNSENDABLE, ''), headers);
    // Together with the first bytes where they are already here, else at once: an answer's headers never wait for its body.
    setImmediate(() => {
      if (!this.#begun && !this.#response.destroyed) this.#response.flushHeaders();
    });
  }

  write(chunk: Buffer): boolean {
    this.#begun = true;
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  end(trailers: RawHeaders, last?: Buffer): void {
    this.#begun = true;
    if (trailers.length > 0) this.#response.addTrailers(pairs(trailers));
    this.#response.end(last);
  }

  abort(): void {
    const response = this.#response;
    if (response.headersSent) response.flushHeaders();
    // What was written in this turn goes out first: the client gets every byte the provider sent.
    setImmediate(() => response.destroy());
  }

  onLeave(listener: () => void): void {
    const response = this.#response;
    const left = (): void => {
      if (!response.writableFinished) listener();
    };
    // It may have left while its key was being looked up.
    if (response.destroyed) left();
    else response.on('close', left);
  }
}

const ignore = (): void => {};

const pairs = (flat: readonly string[]): [string, string][] => {
  const result: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i] as string, flat[i + 1] as string]);
  return result;
};
