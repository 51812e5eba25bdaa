import type { Reservation } from '../../domain/limits/reservation.ts';
import type { CloseEvent, Outcome } from '../../domain/usage/usage-event.ts';
import type { Fingerprint } from '../admission/fingerprint.ts';
import { createMeter, emptyReading, type Meter, type MeteredResponse } from '../meter/meter.ts';
import { headerValue } from '../protocol/headers.ts';
import type { UpstreamHead } from '../upstream/upstream.ts';
import type { RequestCopy } from './request-copy.ts';
import type { RequestIdentity } from './request-identity.ts';

/** How a request ended. Only the recorder uses `unknown`. */
export type KnownOutcome = Exclude<Outcome, 'unknown'>;

/** Collects what is known about a request while it is relayed, and builds its close event. */
export class CloseEventBuilder {
  readonly #request: RequestCopy;
  readonly #startedAtMs: number;
  #response: MeteredResponse | undefined;
  #meter: Meter | undefined;
  #ttfbMs: number | null = null;
  #overheadMs: number | null = null;
  #totalMs = 0;
  #responseBytes = 0;
  #unread: Buffer[] = [];
  route: CloseEvent['route'] = 'bypassed';
  /** As `route`, at the end of the response. */
  routeAtEnd: CloseEvent['route'] = 'bypassed';
  /** Reservations of the request. */
  reservations: readonly Reservation[] = [];

  /** @param startedAtMs when the request arrived, on the monotonic clock */
  constructor(request: RequestCopy, startedAtMs: number) {
    this.#request = request;
    this.#startedAtMs = startedAtMs;
  }

  /** Called just before the request is sent upstream. */
  recordSend(): void {
    this.#overheadMs = performance.now() - this.#startedAtMs;
  }

  /**
   * Called with the response's headers, which the meter needs.
   *
   * @param usageHeaders names of the provider's headers with usage
   */
  recordHead({ status, headers }: UpstreamHead, usageHeaders?: readonly string[]): void {
    this.#response = {
      status,
      contentType: headerValue(headers, 'content-type'),
      contentEncoding: headerValue(headers, 'content-encoding'),
      usageHeaders: usageHeaders?.flatMap((name) => {
        const value = headerValue(headers, name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    };
  }

  /** Called when the request has ended. */
  recordEnd(): void {
    this.#totalMs = performance.now() - this.#startedAtMs;
  }

  get hasResponse(): boolean {
    return this.#response !== undefined;
  }

  /** Called with the length of each chunk as it arrives. */
  recordChunk(bytes: number): void {
    this.#ttfbMs ??= performance.now() - this.#startedAtMs;
    this.#responseBytes += bytes;
  }

  /** Keeps a chunk until `feedMeter`, so that the client gets it first. */
  keepForMeter(chunk: Buffer): void {
    this.#unread.push(chunk);
  }

  /** Lets the meter read the kept chunks. Makes the meter on the first call, so that the first bytes do not wait for that. */
  feedMeter(): void {
    if (this.#response) this.#meter ??= createMeter(this.#request, this.#response);
    const chunks = this.#unread;
    this.#unread = [];
    for (const chunk of chunks) this.#meter?.write(chunk);
  }

  /**
   * Builds the close event. Call it once, after `recordEnd`.
   *
   * @param blockedBy of a refused request: see CloseEvent
   */
  async build(
    identity: RequestIdentity,
    outcome: KnownOutcome,
    fingerprint: ReturnType<Fingerprint>,
    blockedBy?: string | null,
  ): Promise<CloseEvent> {
    this.feedMeter();
    const reading = await (this.#meter ? this.#meter.end(outcome === 'completed') : emptyReading(this.#request));
    return {
      ...identity,
      kind: 'close',
      providerKey: fingerprint instanceof Promise ? await fingerprint : fingerprint,
      route: this.route,
      ...(this.route !== this.routeAtEnd && { isConfirmedLate: true as const }),
      outcome,
      status: this.#response?.status ?? null,
      ttfbMs: this.#ttfbMs && roundedMs(this.#ttfbMs),
      totalMs: roundedMs(this.#totalMs),
      overheadMs: this.#overheadMs && roundedMs(this.#overheadMs),
      requestBytes: this.#request.bytes,
      responseBytes: this.#responseBytes,
      ...(this.reservations.length > 0 && { reservations: [...this.reservations] }),
      // A request that was not forwarded costs nothing.
      ...(blockedBy === undefined ? { reading } : { blockedBy, reading: { ...reading, dialect: 'free' } }),
    };
  }
}

/** Milliseconds rounded to whole microseconds. */
export const roundedMs = (ms: number): number => Math.round(ms * 1000) / 1000;
