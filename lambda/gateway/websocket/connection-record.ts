import type { HostLabel } from '../../domain/hosts.ts';
import { type Dialect, dialectOf, namesModelInMessages, WEBSOCKET, withoutPath } from '../../domain/usage/dialect.ts';
import { MAX_MODEL_CHARACTERS } from '../../domain/usage/limits.ts';
import { requestIdOfResponse } from '../../domain/usage/request-id.ts';
import type { CloseEvent, Reading } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayParts } from '../gateway.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { pathOf } from '../protocol/target.ts';
import { type KnownOutcome, roundedMs } from '../relay/close-event-builder.ts';
import { logFault } from '../relay/fault-log.ts';
import { providerKeyOf, type Registration, register, routeOf } from '../relay/registration.ts';
import { type RequestIdentity, requestIdentity } from '../relay/request-identity.ts';
import { ConnectionMeter, type EndResponse, readStarts } from './connection-meter.ts';
import { compressionOf, FrameReader } from './frame-reader.ts';

/**
 * Connections whose responses are metered. All others are of unknown cost: xAI charges for its voice agent by the minute, so the tokens that it
 * reports are not what they cost. @see https://docs.x.ai/docs/guides/voice/agent
 */
const meteredDialects: Readonly<Partial<Record<HostLabel, Dialect>>> = {
  openai: 'openai-responses',
  google: 'gemini-generate',
};

/**
 * The models that a handshake's target names, as OpenAI's realtime API does; undefined where the client's messages name them. Where the
 * target has several, servers take the first or the last.
 */
export const modelsInTarget = (target: string): readonly string[] | undefined => {
  const path = pathOf(target);
  if (namesModelInMessages(path)) return undefined;
  const models = new URLSearchParams(target.slice(path.length)).getAll('model');
  return models.filter(Boolean).map((model) => model.slice(0, MAX_MODEL_CHARACTERS));
};

/** The reading of a connection itself. `free`: all that costs something on it has a record of its own. */
const connectionReading = (isFree: boolean, isWhole: boolean, model: string | null): Reading => ({
  dialect: isFree ? 'free' : 'unknown',
  usage: null,
  usageSource: 'none',
  complete: isWhole,
  modelRequested: model,
  modelServed: null,
  streamed: true,
  serviceTier: null,
  billableItems: {},
});

/** The request's method is WEBSOCKET. */
export interface AdmittedHandshake {
  readonly request: GatewayRequest;
  readonly admitted: Admitted;
  readonly requestId: string;
  /** When it arrived, on the monotonic clock. */
  readonly startedAtMs: number;
}

/** The relay's facts about a connection that has ended. */
export interface ConnectionEnd {
  /** It became a WebSocket. */
  readonly isRelayed: boolean;
  readonly overheadMs: number | null;
  /** Set where a budget, pause or access rule refused the handshake or a message. */
  readonly blockedBy: string | null | undefined;
}

/** The usage events of one WebSocket connection: one record for the connection, and one for each response that its frames show. */
export class ConnectionRecord {
  identity: RequestIdentity;
  /** Status of the provider's response to the handshake. */
  status: number | null = null;
  readonly #parts: GatewayParts;
  readonly #handshake: AdmittedHandshake;
  readonly #model: string | null;
  /** The model that the client's messages named last. */
  #modelNamed: string | undefined;
  #registration: Registration | undefined;
  #route: CloseEvent['route'] = 'bypassed';
  /** Which side ended first, with a Close frame or without. */
  #outcome: KnownOutcome | undefined;
  /** A side has sent a Close frame. */
  #isClosed = false;
  #meter: ConnectionMeter | undefined;
  #providerReader: FrameReader | undefined;
  #clientReader: FrameReader | undefined;
  /** Bytes that no response's record has yet. */
  #requestBytes = 0;
  #responseBytes = 0;
  #responses = 0;
  /** Responses that have begun and not ended. */
  #running = 0;
  #onResponseEnd: (model: string | null) => void = () => {};
  readonly #deliveries: Promise<void>[] = [];

  constructor(parts: GatewayParts, handshake: AdmittedHandshake, target: string) {
    this.#parts = parts;
    this.#handshake = handshake;
    this.#model = modelsInTarget(target)?.[0] ?? null;
    this.identity = requestIdentity(handshake.request, handshake.admitted, handshake.requestId, pathOf(target));
  }

  /** Sends the open event, once. Until the close event arrives, it is the only record of this connection. */
  register(): Registration {
    this.#registration ??= this.#open(this.identity);
    return this.#registration;
  }

  /** Called where something that may stop the connection could not be read, and before it is registered. */
  markUnread(): void {
    this.identity = { ...this.identity, blocksUnread: true };
  }

  decideRoute(): CloseEvent['route'] {
    this.#route = this.#routeOf(this.#registration);
    return this.#route;
  }

  get outcome(): KnownOutcome | undefined {
    return this.#outcome;
  }

  /** @param outcome what became of the connection if nothing ended it before */
  noteEnd(outcome: KnownOutcome): void {
    this.#outcome ??= outcome;
  }

  /**
   * Reads frames from now on, for the meter and to know which side closes.
   * @param extensions the provider's `Sec-WebSocket-Extensions`
   * @param judge takes the models of each message that begins something, where limits depend on them
   * @param onResponseEnd takes the model of a response that has ended, when no other runs
   */
  readFrames(
    extensions: string | undefined,
    judge: ((models: readonly string[]) => void) | undefined,
    onResponseEnd: (model: string | null) => void,
  ): void {
    this.#onResponseEnd = onResponseEnd;
    const meter = this.#newMeter();
    this.#meter = meter;
    const fromServer = compressionOf(extensions, 'server');
    const fromClient = compressionOf(extensions, 'client');
    const isReadable = fromServer !== undefined && fromClient !== undefined;
    if (!isReadable) meter?.markUnreadable();
    this.#providerReader = new FrameReader(fromServer ?? null, {
      messages: isReadable ? meter?.provider : undefined,
      onClose: () => this.#takeCloseFrame('upstream_aborted'),
      onUnreadable: () => meter?.markUnreadable(),
    });
    const starts = readStarts((named) => {
      const models = named.map((model) => withoutPath(this.identity.provider, model));
      this.#modelNamed = models.at(-1);
      meter?.nameModel(this.#modelNamed);
      judge?.(models);
    });
    this.#clientReader = new FrameReader(fromClient ?? null, {
      get messages() {
        return isReadable && (judge || meter?.needsModel) ? starts : undefined;
      },
      onClose: () => this.#takeCloseFrame('client_aborted'),
      onUnreadable: () => judge?.([]),
    });
  }

  /** True where the provider's messages show when a response ends. */
  get showsEnds(): boolean {
    return this.#meter?.showsEnds === true;
  }

  /** True where the client does not have all of a response, or of a frame where no end of a response shows. */
  get isResponding(): boolean {
    return this.showsEnds ? this.#running > 0 : this.#providerReader?.isWithinFrame === true;
  }

  /** True where the client has whole frames of the provider only. */
  get isBetweenFrames(): boolean {
    return this.#providerReader?.isWithinFrame === false;
  }

  readClient(chunk: Buffer): void {
    this.#requestBytes += chunk.length;
    this.#readSafely(() => this.#clientReader?.write(chunk));
  }

  readProvider(chunk: Buffer): void {
    this.countResponseBytes(chunk.length);
    this.#readSafely(() => this.#providerReader?.write(chunk));
  }

  countResponseBytes(bytes: number): void {
    this.#responseBytes += bytes;
  }

  /** Sends the close events of the connection and of responses that are not complete. Resolves when all are delivered. */
  async close(outcome: KnownOutcome, { isRelayed, overheadMs, blockedBy }: ConnectionEnd): Promise<void> {
    const meter = this.#meter;
    await this.#providerReader?.drained();
    await this.#clientReader?.drained();
    this.#readSafely(() => meter?.end());
    // No WebSocket: nothing that costs was sent.
    const isFree = !isRelayed || meter?.isWhole === true;
    const ended = this.#isClosed ? 'completed' : outcome;
    const refused = blockedBy === undefined ? undefined : this.#modelNamed;
    const model = refused ?? (meter ? meter.modelRequested : this.#model);
    this.#deliver({
      identity: this.identity,
      route: this.#route,
      outcome: ended,
      overheadMs: overheadMs && roundedMs(overheadMs),
      ...(blockedBy !== undefined && { blockedBy }),
      ...(this.#route !== this.#routeOf(this.#registration) && { isConfirmedLate: true as const }),
      startedAtMs: this.#handshake.startedAtMs,
      reading: connectionReading(isFree, ended === 'completed', model),
    });
    await Promise.all(this.#deliveries);
  }

  #newMeter(): ConnectionMeter | undefined {
    const { provider } = this.#handshake.admitted;
    const dialect = dialectOf(WEBSOCKET, this.identity.path);
    if (meteredDialects[provider.label] !== dialect) return undefined;
    return new ConnectionMeter({ dialect, model: this.#model, beginResponse: () => this.#beginResponse() });
  }

  #open(identity: RequestIdentity): Registration {
    return register(identity.requestId, () => {
      const fingerprint = this.#fingerprint();
      // A fingerprint that is not known at once is on the close event only.
      const providerKey = fingerprint instanceof Promise ? null : fingerprint;
      return this.#parts.tracker.open({ ...identity, kind: 'open', providerKey });
    });
  }

  #fingerprint(): string | null | Promise<string | null> {
    return providerKeyOf(this.#parts, this.#handshake);
  }

  /** @param cut what became of responses that are not complete */
  #takeCloseFrame(cut: KnownOutcome): void {
    this.#isClosed = true;
    this.noteEnd(cut);
  }

  /** A fault of the meter makes the cost unknown, but never affects the client. */
  #readSafely(step: () => void): void {
    try {
      step();
    } catch (error) {
      logFault(this.identity.requestId, error);
      this.#meter?.markUnreadable();
      this.#providerReader = undefined;
      this.#clientReader = undefined;
    }
  }

  /** Registers a response on the connection. */
  #beginResponse(): EndResponse {
    this.#responses += 1;
    this.#running += 1;
    const startedAt = Date.now();
    const startedAtMs = performance.now();
    const identity: RequestIdentity = {
      ...this.identity,
      requestId: requestIdOfResponse(this.identity.requestId, this.#responses, startedAt),
      startedAt: new Date(startedAt).toISOString(),
    };
    const registration = this.#open(identity);
    return (reading) => {
      const outcome = reading.complete ? 'completed' : (this.#outcome ?? 'upstream_aborted');
      // As over HTTP: a short response may end before the queue has confirmed its beginning.
      const confirmed = new Promise<void>((resolve) => registration.whenKnown(resolve));
      const route = confirmed.then(() => this.#routeOf(registration));
      this.#deliver({ identity, route, outcome, overheadMs: null, startedAtMs, reading });
      this.#running -= 1;
      if (this.#running === 0) this.#onResponseEnd(reading.modelRequested ?? reading.modelServed);
    };
  }

  #routeOf(registration: Registration | undefined): CloseEvent['route'] {
    return routeOf(registration, this.#handshake.admitted.owner);
  }

  #deliver({
    identity,
    startedAtMs,
    route,
    ...facts
  }: Pick<CloseEvent, 'outcome' | 'reading' | 'blockedBy' | 'isConfirmedLate'> & {
    readonly identity: RequestIdentity;
    readonly route: CloseEvent['route'] | Promise<CloseEvent['route']>;
    readonly overheadMs: number | null;
    readonly startedAtMs: number;
  }): void {
    const event = {
      ...identity,
      ...facts,
      kind: 'close' as const,
      status: this.status,
      ttfbMs: null,
      totalMs: roundedMs(performance.now() - startedAtMs),
      requestBytes: this.#requestBytes,
      responseBytes: this.#responseBytes,
    };
    this.#requestBytes = 0;
    this.#responseBytes = 0;
    const send = async (): Promise<void> =>
      this.#parts.tracker.close({ ...event, route: await route, providerKey: await this.#fingerprint() });
    this.#deliveries.push(
      // The open event still records it.
      send().catch((error: unknown) => logFault(identity.requestId, error)),
    );
  }
}
