import type { Readable } from 'node:stream';
import type { RawHeaders } from './headers.ts';

/** A request as it reached the gateway, whatever carried it. */
export interface GatewayRequest {
  /** Upper case. */
  readonly method: string;
  /** Host the client used, with or without port. */
  readonly host: string | undefined;
  /** Gateway label given by other means than the host (a local path), instead of it. */
  readonly label?: string | undefined;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: RawHeaders;
  readonly body: Readable | Buffer | null;
}

/** Where the answer goes: the adapters' side of the relay. */
export interface ClientResponse {
  /** Sends the status and headers, at once even when no body follows for long. Called first, and once. */
  start(status: number, statusMessage: string, headers: string[]): void;
  /** False when the client is slower than the provider: `onDrain` tells when to go on. */
  write(chunk: Buffer): boolean;
  onDrain(listener: () => void): void;
  /** @param last the last bytes of the body, where they are here: one write sends them with the headers, or with the end */
  end(trailers: RawHeaders, last?: Buffer): void;
  /** Breaks the answer off so that the client sees it broken, not ended. */
  abort(): void;
  /** Tells when the client has left before the answer's end; at once where it has left already. */
  onLeave(listener: () => void): void;
}
