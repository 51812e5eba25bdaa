import type { CloseEvent, Outcome } from '../../domain/usage/usage-event.ts';
import type { Fingerprint } from '../admission/fingerprint.ts';
import { createMeter, emptyReading, type Meter, type MeteredResponse } from '../meter/meter.ts';
import { headerValue } from '../protocol/headers.ts';
import type { UpstreamHead } from '../upstream/upstream.ts';
import type { RequestCopy } from './request-copy.ts';
import type { RequestIdentity } from './request-identity.ts';

/** How a request ended. `unknown` is said by the recorder alone. */
export type KnownOutcome = Exclude<Outcome, 'unknown'>;

/** All that is learned of a request while it is relayed, and the close event that it comes to. */
export class CloseEventBuilder {
  readonly #request: RequestCopy;
  readonly #startedAtMs: number;
  #response: MeteredResponse | undefined;
  #meter: Meter | undefined;
  #ttfbMs: number | null = null;
  #overheadMs: number | null = null;
  #responseBytes = 0;
  #unread: Buffer[] = [];
  route: CloseEvent['route'] = 'bypassed';

  /** @param startedAtMs the request's arrival, on the monotonic clock */
  constructor(request: RequestCopy, startedAtMs: number) {
    this.#request = request;
    this.#startedAtMs = startedAtMs;
  }

  /** The request is about to be sent upstream. */
  sending(): void {
    this.#overheadMs = performance.now() - this.#startedAtMs;
  }

  /** The answer's headers are here: from now on its bytes are metered. */
  answered({ status, headers }: UpstreamHead): void {
    this.#response = {
      status,
      contentType: headerValue(headers, 'content-type'),
      contentEncoding: headerValue(headers, 'content-encoding'),
      cachedPromptTokens: headerValue(headers, 'fireworks-cached-prompt-tokens'),
    };
  }

  get hasResponse(): boolean {
    return this.#response !== undefined;
  }

  /** A piece of the answer has come, and is about to be relayed. */
  received(bytes: number): void {
    this.#ttfbMs ??= performance.now() - this.#startedAtMs;
    this.#responseBytes += bytes;
  }

  /** Keeps bytes for the meter. */
  keep(chunk: Buffer): void {
    this.#unread.push(chunk);
  }

  /** The meter reads what was kept for it. */
  readMeter(): void {
    // Made here, since the answer's first bytes do not wait for it.
    if (this.#response) this.#meter ??= createMeter(this.#request, this.#response);
    const chunks = this.#unread;
    this.#unread = [];
    for (const chunk of chunks) this.#meter?.write(chunk);
  }

  /** The request is over. */
  async closeEvent(
    facts: RequestIdentity,
    outcome: KnownOutcome,
    fingerprint: ReturnType<Fingerprint>,
  ): Promise<CloseEvent> {
    const totalMs = performance.now() - this.#startedAtMs;
    this.readMeter();
    const reading = this.#meter ? await this.#meter.end(outcome === 'completed') : emptyReading(this.#request);
    return {
      ...facts,
      kind: 'close',
      providerKey: fingerprint instanceof Promise ? await fingerprint : fingerprint,
      route: this.route,
      outcome,
      status: this.#response?.status ?? null,
      ttfbMs: this.#ttfbMs && round(this.#ttfbMs),
      totalMs: round(totalMs),
      overheadMs: this.#overheadMs && round(this.#overheadMs),
      requestBytes: this.#request.bytes,
      responseBytes: this.#responseBytes,
      reading,
    };
  }
}

/** Microseconds are enough. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000;
