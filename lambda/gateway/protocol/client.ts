import type { Readable } from 'node:stream';
import type { RawHeaders } from './headers.ts';

/** A client's request, independent of the host that received it. */
export interface GatewayRequest {
  /** Upper case. */
  readonly method: string;
  /** The client's `Host` header, with or without port. */
  readonly host: string | undefined;
  /** The provider's label where a local path gives it; it overrides the host. */
  readonly label?: string | undefined;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | Buffer | null;
}

/** Event on the socket of a WebSocket's client: the server that stops has waited for its end. */
export const STOP = 'stop';

/** The client's side of a response. Each host implements it. */
export interface ClientResponse {
  /** Sends an interim response, before `start`. A host that cannot lacks it. */
  inform?(status: number, statusMessage: string, headers: RawHeaders): void;
  /** Sends the status and headers without waiting for the body. Called once. */
  start(status: number, statusMessage: string, headers: string[]): void;
  /** False when the client is slower than the provider: wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  onDrain(listener: () => void): void;
  /** @param last the last bytes of the body, if any: one write sends them with the headers or with the end */
  end(trailers: RawHeaders, last?: Buffer): void;
  /** Interrupts the response: the client sees an error, not an end. */
  abort(): void;
  /** Calls back when the client disconnects before the end of the response; at once if it already has. */
  onDisconnect(listener: () => void): void;
}
