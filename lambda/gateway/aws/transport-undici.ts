import type { Dispatcher } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';
import {
  type AwsResponse,
  type AwsTransport,
  DeadConnectionError,
  MAX_IDLE_MS,
  MAX_RESPONSE_BYTES,
  timeoutError,
  tooLongError,
} from './transport.ts';

/** undici does not report whether a connection was kept or new, so a call on a new one may run twice, too. */
const BROKEN: ReadonlySet<string | undefined> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const isBroken = ({ code }: NodeJS.ErrnoException): boolean => BROKEN.has(code);

/** Over undici's dispatch: half the CPU time of node:http for a call. */
export const undiciTransport = (endpoint: string): AwsTransport => {
  const { origin } = new URL(endpoint);
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: MAX_IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
  });
  return (request, timeoutMs) =>
    new Promise((resolve, reject) => {
      agent.dispatch(
        { origin, path: '/', method: 'POST', headers: { ...request.headers }, body: request.body },
        new Call(timeoutMs, resolve, reject),
      );
    });
};

class Call implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: AwsResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(timeoutMs: number, resolve: (response: AwsResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#giveUp(timeoutError(timeoutMs)), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_RESPONSE_BYTES) this.#giveUp(tooLongError());
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#resolve({ status: this.#status, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    this.#reject(this.#status === 0 && isBroken(error) ? new DeadConnectionError(error.message) : error);
  }

  #giveUp(error: Error): void {
    clearTimeout(this.#timer);
    this.#reject(error);
    this.#controller?.abort(error);
  }
}
