import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { ProviderLabel } from '../../domain/providers.ts';
import { type Dialect, dialectOf, WEBSOCKET } from '../../domain/usage/dialect.ts';
import { MAX_MODEL_CHARACTERS } from '../../domain/usage/limits.ts';
import { requestIdOfResponse } from '../../domain/usage/request-id.ts';
import type { CloseEvent, Reading } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayParts } from '../gateway.ts';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import { gatewayErrorResponse } from '../protocol/gateway-error.ts';
import { clientResponseHeaders, headerValue, responseHead, upstreamRequestHeaders } from '../protocol/headers.ts';
import { pathOf, upstreamTarget } from '../protocol/target.ts';
import { checkBudgets, isSameModel, type Refusal, refusalResponse } from '../relay/budget-check.ts';
import { type KnownOutcome, roundedMs } from '../relay/close-event-builder.ts';
import { logFault } from '../relay/fault-log.ts';
import { Registration, routeOf } from '../relay/registration.ts';
import { type RequestIdentity, requestIdentity } from '../relay/request-identity.ts';
import { MAX_HEADER_BYTES, PhaseTimer, type UpstreamTimeouts } from '../upstream/upstream.ts';
import { ConnectionMeter, type EndResponse } from './connection-meter.ts';
import { compressionOf, FrameReader } from './frame-reader.ts';

/** Longer than providers keep a connection (OpenAI an hour), so that only forgotten connections end. */
const IDLE_MS = 3_900_000;
/**
 * Connections whose responses are metered. All others are of unknown cost: xAI charges for its voice agent by the minute, so the tokens that it
 * reports are not what they cost. @see https://docs.x.ai/docs/guides/voice/agent
 */
const meteredDialects: Readonly<Partial<Record<ProviderLabel, Dialect>>> = {
  openai: 'openai-responses',
  google: 'gemini-generate',
};
/** How long the second side may take to close after the first has. */
const CLOSE_MS = 30_000;
const KEEP_ALIVE_PROBE_MS = 60_000;
/** Bytes of the client that wait for the provider's response to the handshake; above this limit the client is paused. */
const MAX_EARLY_BYTES = 64 * 1024;

const SWITCHING_PROTOCOLS = 101;

export interface WebSocketParts extends GatewayParts {
  readonly timeouts: UpstreamTimeouts;
  /** Closes a connection on which nothing was sent for so long. */
  readonly webSocketIdleMs?: number;
}

/** A client's connection after its handshake's request. */
export interface ClientConnection {
  readonly socket: Socket;
  /** What the client sent behind its handshake. */
  readonly head: Buffer;
  /** Makes the response for a connection that does not become a WebSocket. Called at most once. */
  readonly respond: () => ClientResponse;
}

/** An admitted handshake; the request's method is WEBSOCKET. */
export interface Handshake {
  readonly request: GatewayRequest;
  readonly admitted: Admitted;
  readonly requestId: string;
  /** When it arrived, on the monotonic clock. */
  readonly startedAtMs: number;
  readonly connection: ClientConnection;
}

const ignore = (): void => {};

const modelInQuery = (target: string): string | null => {
  const query = target.indexOf('?');
  const model = query === -1 ? null : new URLSearchParams(target.slice(query + 1)).get('model');
  return model ? model.slice(0, MAX_MODEL_CHARACTERS) : null;
};

/** Passes bytes on with back-pressure, then lets `read` have them. */
const pipe = (from: Socket, to: Socket, read: (chunk: Buffer) => void): void => {
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) from.pause();
    read(chunk);
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  from.resume();
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

/**
 * Relays one WebSocket connection. The bytes of both sides pass unchanged, so frames, masks, compression and close codes stay exact; a copy of
 * the provider's goes to the meter. The connection is one record, and so is each response on it.
 */
export class WebSocketRelay {
  readonly #parts: WebSocketParts;
  readonly #handshake: Handshake;
  readonly #done: () => void;
  readonly #client: Socket;
  readonly #target: string;
  readonly #identity: RequestIdentity;
  readonly #timer: PhaseTimer;
  #outgoing: ClientRequest | undefined;
  #provider: Socket | undefined;
  #registration: Registration | undefined;
  #early: Buffer[];
  #earlyBytes = 0;
  #route: CloseEvent['route'] = 'bypassed';
  #status: number | null = null;
  #overheadMs: number | null = null;
  /** Of a connection that is not made. */
  #blockedBy: string | null | undefined;
  #isRelaying = false;
  /** Which side ended first, with a Close frame or without. */
  #outcome: KnownOutcome | undefined;
  /** A side has sent a Close frame. */
  #isClosed = false;
  #isFinished = false;

  #meter: ConnectionMeter | undefined;
  #providerReader: FrameReader | undefined;
  #clientReader: FrameReader | undefined;
  /** Bytes that no response's record has yet. */
  #requestBytes = 0;
  #responseBytes = 0;
  #responses = 0;
  readonly #deliveries: Promise<void>[] = [];

  constructor(parts: WebSocketParts, handshake: Handshake, done: () => void) {
    const { request, admitted, requestId, connection } = handshake;
    this.#parts = parts;
    this.#handshake = handshake;
    this.#done = done;
    this.#client = connection.socket;
    this.#early = [connection.head];
    this.#target = upstreamTarget(request.target, admitted.provider);
    this.#identity = requestIdentity(request, admitted, requestId, pathOf(this.#target));
    this.#timer = new PhaseTimer(() => this.#guard(() => this.#handleTimeout()));
  }

  begin(): void {
    const client = this.#client;
    client.on('data', this.#keepEarly);
    client.on('end', this.#handleClientEnd);
    client.on('close', this.#handleClientClose);
    if (client.destroyed) {
      this.#finish('client_aborted');
      return;
    }
    const refusal = this.#refusal();
    if (refusal) {
      this.#refuse(refusal);
      return;
    }
    this.#connect();
    // After the handshake has been sent.
    setImmediate(() => this.#guard(() => this.#register()));
  }

  #refusal(): Refusal | undefined {
    const budgets = checkBudgets(this.#handshake.admitted, this.#identity, new Date());
    const model = modelInQuery(this.#target);
    return (
      budgets?.refusal ??
      (model === null ? undefined : budgets?.ofModels.find(({ scope }) => isSameModel(model, scope.model as string)))
    );
  }

  #refuse(refusal: Refusal): void {
    this.#blockedBy = refusal === 'blocks-unread' ? null : refusal.id;
    this.#register().whenKnown(() =>
      this.#guard(() => {
        if (this.#isFinished) return;
        const { status, headers, body } = refusalResponse(refusal, this.#handshake.requestId, new Date());
        this.#respond(status, '', [...headers, 'X-Service-Route', this.#decideRoute()]).end([], body);
        this.#finish('refused');
      }),
    );
  }

  readonly #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#client.pause();
  };

  /** A fault of ours fails this connection, not the process with all its others. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      logFault(this.#handshake.requestId, error);
      this.#client.destroy();
      this.#provider?.destroy();
      this.#outgoing?.destroy();
      this.#finish('upstream_aborted');
    }
  }

  #connect(): void {
    const { request, admitted, startedAtMs } = this.#handshake;
    const origin = new URL(this.#parts.upstreamOrigins.get(admitted.provider.label) ?? admitted.provider.origin);
    const isSecure = origin.protocol === 'https:';
    const { headers } = upstreamRequestHeaders(request.headers, origin.host, request.method);
    headers.push('Connection', 'Upgrade', 'Upgrade', headerValue(request.headers, 'upgrade') ?? 'websocket');
    this.#overheadMs = performance.now() - startedAtMs;
    let outgoing: ClientRequest;
    try {
      outgoing = (isSecure ? httpsRequest : httpRequest)({
        agent: false,
        hostname: origin.hostname.replace(/^\[|\]$/g, ''),
        port: origin.port,
        method: 'GET',
        path: this.#target,
        headers,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
    } catch {
      // Node refuses to send some requests, such as a path with control characters.
      process.nextTick(() => this.#guard(() => this.#handleUnreachable()));
      return;
    }
    this.#outgoing = outgoing;
    const { connectTimeoutMs, headersTimeoutMs } = this.#parts.timeouts;
    this.#timer.begin(connectTimeoutMs, 'connecting to the provider');
    outgoing.on('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        if (!this.#isFinished) this.#timer.begin(headersTimeoutMs, 'waiting for the provider’s handshake');
      });
    });
    outgoing.on('error', () => this.#guard(() => this.#handleUnreachable()));
    outgoing.on('close', () => this.#guard(() => this.#handleUnreachable()));
    outgoing.on('response', (response) => this.#guard(() => this.#handleRefusal(response)));
    outgoing.on('upgrade', (response, socket, head) =>
      this.#guard(() => this.#handleUpgrade(response, socket as Socket, head)),
    );
    outgoing.end();
  }

  #fingerprint(): string | null | Promise<string | null> {
    return this.#parts.fingerprint(this.#handshake.admitted.credential);
  }

  /** The fingerprint if it is known at once. */
  #knownFingerprint(): string | null {
    const fingerprint = this.#fingerprint();
    return fingerprint instanceof Promise ? null : fingerprint;
  }

  /** Sends the open event, once. Until the close event arrives, it is the only record of this connection. */
  #register(): Registration {
    this.#registration ??= new Registration(
      this.#parts.tracker.open({ ...this.#identity, kind: 'open', providerKey: this.#knownFingerprint() }),
    );
    return this.#registration;
  }

  #decideRoute(): CloseEvent['route'] {
    this.#route = routeOf(this.#registration, this.#handshake.admitted.owner);
    return this.#route;
  }

  #handleTimeout(): void {
    if (this.#status === null) this.#outgoing?.destroy(new Error('timed out'));
    else this.#abort('upstream_aborted');
  }

  #handleUnreachable(): void {
    if (this.#status !== null || this.#isFinished) return;
    this.#timer.stop();
    this.#register().whenKnown(() =>
      this.#guard(() => {
        if (this.#isFinished) return;
        const { status, headers, body } = gatewayErrorResponse('PROVIDER_ERROR', this.#handshake.requestId);
        this.#respond(status, '', [...headers, 'X-Service-Route', this.#decideRoute()]).end([], body);
        this.#finish('unreachable');
      }),
    );
  }

  #respond(status: number, message: string, headers: string[]) {
    this.#client.off('data', this.#keepEarly);
    this.#client.resume();
    const response = this.#handshake.connection.respond();
    response.start(status, message, headers);
    return response;
  }

  /** Passes on a response that is no WebSocket, as it is. */
  #handleRefusal(incoming: IncomingMessage): void {
    this.#status = incoming.statusCode ?? 0;
    incoming.pause();
    incoming.on('error', ignore);
    this.#timer.begin(this.#parts.timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    this.#register().whenKnown(() =>
      this.#guard(() => {
        if (this.#isFinished) return;
        const headers = clientResponseHeaders(incoming.rawHeaders, this.#decideRoute(), this.#identity.requestId);
        const response = this.#respond(incoming.statusCode ?? 0, incoming.statusMessage ?? '', headers);
        response.onDrain(() => incoming.resume());
        incoming.on('data', (chunk: Buffer) => {
          this.#timer.refresh();
          this.#responseBytes += chunk.length;
          if (!response.write(chunk)) incoming.pause();
        });
        incoming.on('close', () => {
          if (incoming.complete) response.end(incoming.rawTrailers);
          else response.abort();
          this.#finish(incoming.complete ? 'completed' : 'upstream_aborted');
        });
        incoming.resume();
      }),
    );
  }

  #handleUpgrade(response: IncomingMessage, provider: Socket, head: Buffer): void {
    this.#status = SWITCHING_PROTOCOLS;
    this.#provider = provider;
    this.#timer.stop();
    // A side may go on sending when the other has ended.
    provider.allowHalfOpen = true;
    provider.on('error', ignore);
    provider.on('close', () => this.#guard(() => this.#handleProviderClose()));
    if (this.#isFinished) {
      provider.destroy();
      return;
    }
    this.#register().whenKnown(() => this.#guard(() => this.#startRelay(response, provider, head)));
  }

  #startRelay({ statusMessage, rawHeaders }: IncomingMessage, provider: Socket, head: Buffer): void {
    if (this.#isFinished) return;
    const client = this.#client;
    this.#isRelaying = true;
    for (const socket of [client, provider]) socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    const headers = clientResponseHeaders(rawHeaders, this.#decideRoute(), this.#identity.requestId);
    headers.push('Upgrade', headerValue(rawHeaders, 'upgrade') ?? 'websocket', 'Connection', 'Upgrade');
    client.write(responseHead(SWITCHING_PROTOCOLS, statusMessage ?? '', headers), 'latin1');
    this.#openMeter();
    this.#openReaders(headerValue(rawHeaders, 'sec-websocket-extensions'));
    this.#timer.begin(this.#parts.webSocketIdleMs ?? IDLE_MS, 'waiting for the next frame');

    client.off('data', this.#keepEarly);
    const early = Buffer.concat(this.#early);
    this.#early = [];
    // In front of what the sockets still hold.
    if (early.length > 0) {
      provider.write(early);
      this.#readClient(early);
    }
    if (head.length > 0) {
      client.write(head);
      this.#readProvider(head);
    }
    pipe(client, provider, (chunk) => this.#readClient(chunk));
    pipe(provider, client, (chunk) => this.#readProvider(chunk));
    if (client.readableEnded) provider.end();
    client.on('end', () => this.#expectClose());
    provider.on('end', () => {
      this.#outcome ??= 'upstream_aborted';
      this.#expectClose();
    });
    if (provider.destroyed) this.#handleProviderClose();
  }

  /** The second side must close soon after the first. */
  #expectClose(): void {
    if (!this.#isFinished) this.#timer.begin(CLOSE_MS, 'closing the connection');
  }

  readonly #handleClientEnd = (): void => {
    this.#outcome ??= 'client_aborted';
    if (!this.#isRelaying && this.#status === null) this.#guard(() => this.#abort('client_aborted'));
  };

  readonly #handleClientClose = (): void => {
    this.#guard(() => {
      this.#outcome ??= 'client_aborted';
      if (this.#status === null || !this.#provider) this.#abort('client_aborted');
      else {
        this.#provider.destroySoon();
        this.#expectClose();
      }
      this.#finishIfClosed();
    });
  };

  #handleProviderClose(): void {
    this.#outcome ??= 'upstream_aborted';
    // The client gets all of the provider's bytes first.
    if (!this.#isRelaying) return;
    this.#client.destroySoon();
    this.#expectClose();
    this.#finishIfClosed();
  }

  #finishIfClosed(): void {
    if (this.#client.destroyed && this.#provider?.destroyed !== false) this.#finish(this.#outcome ?? 'client_aborted');
  }

  #abort(outcome: KnownOutcome): void {
    this.#outcome ??= outcome;
    this.#outgoing?.destroy();
    this.#provider?.destroy();
    this.#client.destroy();
    this.#finish(this.#outcome);
  }

  #openMeter(): void {
    const { provider } = this.#handshake.admitted;
    const dialect = dialectOf(WEBSOCKET, this.#identity.path);
    if (meteredDialects[provider.label] !== dialect) return;
    this.#meter = new ConnectionMeter({
      dialect,
      model: modelInQuery(this.#target),
      beginResponse: () => this.#beginResponse(),
    });
  }

  /** Reads frames for the meter, and to know which side closes. */
  #openReaders(extensions: string | undefined): void {
    const meter = this.#meter;
    const fromServer = compressionOf(extensions, 'server');
    const fromClient = compressionOf(extensions, 'client');
    const isReadable = fromServer !== undefined && fromClient !== undefined;
    if (!isReadable) meter?.markUnreadable();
    this.#providerReader = new FrameReader(fromServer ?? null, {
      messages: isReadable ? meter?.provider : undefined,
      onClose: () => this.#takeCloseFrame('upstream_aborted'),
      onUnreadable: () => meter?.markUnreadable(),
    });
    this.#clientReader = new FrameReader(fromClient ?? null, {
      get messages() {
        return isReadable ? meter?.client : undefined;
      },
      onClose: () => this.#takeCloseFrame('client_aborted'),
      onUnreadable: ignore,
    });
  }

  /** @param cut what became of responses that are not complete */
  #takeCloseFrame(cut: KnownOutcome): void {
    this.#isClosed = true;
    this.#outcome ??= cut;
  }

  /** A fault of the meter makes the cost unknown, but never affects the client. */
  #readSafely(step: () => void): void {
    try {
      step();
    } catch (error) {
      logFault(this.#identity.requestId, error);
      this.#meter?.markUnreadable();
      this.#providerReader = undefined;
      this.#clientReader = undefined;
    }
  }

  #readClient(chunk: Buffer): void {
    this.#timer.refresh();
    this.#requestBytes += chunk.length;
    this.#readSafely(() => this.#clientReader?.write(chunk));
  }

  #readProvider(chunk: Buffer): void {
    this.#timer.refresh();
    this.#responseBytes += chunk.length;
    this.#readSafely(() => this.#providerReader?.write(chunk));
  }

  /** Registers a response on the connection. */
  #beginResponse(): EndResponse {
    this.#responses += 1;
    const startedAt = Date.now();
    const startedAtMs = performance.now();
    const identity: RequestIdentity = {
      ...this.#identity,
      requestId: requestIdOfResponse(this.#identity.requestId, this.#responses, startedAt),
      startedAt: new Date(startedAt).toISOString(),
    };
    const registration = new Registration(
      this.#parts.tracker.open({ ...identity, kind: 'open', providerKey: this.#knownFingerprint() }),
    );
    return (reading) => {
      const route = routeOf(registration, this.#handshake.admitted.owner);
      const outcome = reading.complete ? 'completed' : (this.#outcome ?? 'upstream_aborted');
      this.#deliver({ identity, route, outcome, overheadMs: null, startedAtMs, reading });
    };
  }

  #deliver({
    identity,
    startedAtMs,
    ...facts
  }: Pick<CloseEvent, 'route' | 'outcome' | 'reading' | 'blockedBy'> & {
    readonly identity: RequestIdentity;
    readonly overheadMs: number | null;
    readonly startedAtMs: number;
  }): void {
    const event = {
      ...identity,
      ...facts,
      kind: 'close' as const,
      status: this.#status,
      ttfbMs: null,
      totalMs: roundedMs(performance.now() - startedAtMs),
      requestBytes: this.#requestBytes,
      responseBytes: this.#responseBytes,
    };
    this.#requestBytes = 0;
    this.#responseBytes = 0;
    const send = async (): Promise<void> =>
      this.#parts.tracker.close({ ...event, providerKey: await this.#fingerprint() });
    this.#deliveries.push(
      // The open event still records it.
      send().catch((error: unknown) => logFault(identity.requestId, error)),
    );
  }

  #finish(outcome: KnownOutcome): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#timer.stop();
    this.#close(outcome)
      .catch((error: unknown) => logFault(this.#identity.requestId, error))
      .finally(this.#done);
  }

  async #close(outcome: KnownOutcome): Promise<void> {
    const meter = this.#meter;
    await this.#providerReader?.drained();
    await this.#clientReader?.drained();
    this.#readSafely(() => meter?.end());
    // No WebSocket: nothing that costs was sent.
    const isFree = !this.#isRelaying || meter?.isWhole === true;
    const ended = this.#isClosed ? 'completed' : outcome;
    this.#deliver({
      identity: this.#identity,
      route: this.#route,
      outcome: ended,
      overheadMs: this.#overheadMs && roundedMs(this.#overheadMs),
      ...(this.#blockedBy !== undefined && { blockedBy: this.#blockedBy }),
      startedAtMs: this.#handshake.startedAtMs,
      reading: connectionReading(
        isFree,
        ended === 'completed',
        meter ? meter.modelRequested : modelInQuery(this.#target),
      ),
    });
    await Promise.all(this.#deliveries);
  }
}
