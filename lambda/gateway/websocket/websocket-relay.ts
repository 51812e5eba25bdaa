import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { isInForce } from '../../domain/limits/block.ts';
import type { Admitted, Decision } from '../admission/admit.ts';
import type { GatewayParts } from '../gateway.ts';
import { type ClientResponse, STOP } from '../protocol/client.ts';
import { type GatewayErrorResponse, gatewayErrorResponse, gatewayErrorText } from '../protocol/gateway-error.ts';
import {
  clientResponseHeaders,
  headerValue,
  responseHead,
  upstreamRequestHeaders,
  withoutHeaders,
} from '../protocol/headers.ts';
import { upstreamTarget } from '../protocol/target.ts';
import {
  type BudgetCheck,
  checkLimits,
  needsModels,
  type Refusal,
  refusalByModels,
  refusalId,
  refusalInShort,
  refusalResponse,
} from '../relay/budget-check.ts';
import type { KnownOutcome } from '../relay/close-event-builder.ts';
import { logFault } from '../relay/fault-log.ts';
import { MAX_HEADER_BYTES, PhaseTimer, type UpstreamTimeouts } from '../upstream/upstream.ts';
import { type AdmittedHandshake, ConnectionRecord, modelsInTarget } from './connection-record.ts';

/** Longer than providers keep a connection (OpenAI an hour), so that only forgotten connections end. */
const IDLE_MS = 3_900_000;
/** How long the second side may take to close after the first has. */
const CLOSE_MS = 30_000;
/** The same where nobody is left who reads, or the process stops: it is killed ten seconds after its drain. */
const FLUSH_MS = 5_000;
const KEEP_ALIVE_PROBE_MS = 60_000;
/** How often a connection is judged again whose responses do not show when they end. */
const JUDGE_MS = 60_000;
/** Bytes of the client that wait for the provider's response to the handshake; above this limit the client is paused. */
const MAX_EARLY_BYTES = 64 * 1024;

const SWITCHING_PROTOCOLS = 101;
const EXTENSIONS: ReadonlySet<string> = new Set(['sec-websocket-extensions']);

export interface WebSocketParts extends GatewayParts {
  readonly timeouts: UpstreamTimeouts;
  /** A connection on which nothing was sent for this long is closed. */
  readonly webSocketIdleMs?: number;
  readonly webSocketJudgeMs?: number;
}

/** A client's connection after its handshake's request. */
export interface ClientConnection {
  readonly socket: Socket;
  /** Bytes that the client sent behind its handshake. */
  readonly head: Buffer;
  /** Makes the response for a connection that does not become a WebSocket. Called at most once. */
  readonly respond: () => ClientResponse;
}

export interface Handshake extends AdmittedHandshake {
  /** Decides again about the handshake, with the account and its limits as they are now. Never throws or rejects. */
  readonly admitNow: () => Decision | Promise<Decision>;
  readonly connection: ClientConnection;
}

const ignore = (): void => {};

/** Passes on with back-pressure the bytes that `take` passes. */
const pipe = (from: Socket, to: Socket, take: (chunk: Buffer, pass: () => void) => void): void => {
  from.on('data', (chunk: Buffer) => {
    take(chunk, () => {
      if (!to.write(chunk)) from.pause();
    });
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  from.resume();
};

/** @see https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const GOING_AWAY = 1_001;
const POLICY_VIOLATION = 1_008;
/** A control frame has 125 bytes, two of them for the code and three for the mark that the reason was cut. */
const MAX_REASON_BYTES = 120;

const closeFrame = (code: number, reason: string): Buffer => {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  const text = Buffer.from(read < reason.length ? `${reason.slice(0, read)}…` : reason);
  return Buffer.concat([Buffer.from([0x88, 2 + text.length, code >> 8, code & 0xff]), text]);
};

/**
 * Relays one WebSocket connection. The bytes of both sides pass unchanged, so frames, masks, compression and close codes stay exact; a copy of
 * the provider's goes to the meter (ConnectionRecord).
 */
export class WebSocketRelay {
  readonly #parts: WebSocketParts;
  readonly #handshake: Handshake;
  readonly #done: () => void;
  readonly #client: Socket;
  readonly #target: string;
  readonly #record: ConnectionRecord;
  readonly #timer: PhaseTimer;
  #outgoing: ClientRequest | undefined;
  #provider: Socket | undefined;
  #early: Buffer[];
  #earlyBytes = 0;
  #overheadMs: number | null = null;
  /** Limits that depend on models which the client's messages name. */
  #byModel: BudgetCheck | undefined;
  /** Set for a connection that is not made, or that a message ended. */
  #blockedBy: string | null | undefined;
  #judging: NodeJS.Timeout | undefined;
  #isRelaying = false;
  /** The gateway has ended it: nothing is passed on any more. */
  #isCut = false;
  #isFinished = false;

  constructor(parts: WebSocketParts, handshake: Handshake, done: () => void) {
    const { request, admitted, connection } = handshake;
    this.#parts = parts;
    this.#handshake = handshake;
    this.#done = done;
    this.#client = connection.socket;
    this.#early = [connection.head];
    this.#target = upstreamTarget(admitted.target ?? request.target, admitted.provider);
    this.#record = new ConnectionRecord(parts, handshake, this.#target);
    this.#timer = new PhaseTimer(() => this.#guard(() => this.#handleTimeout()));
  }

  begin(): void {
    const client = this.#client;
    client.on('data', this.#keepEarly);
    client.on('end', this.#handleClientEnd);
    client.on('close', this.#handleClientClose);
    client.on(STOP, () => this.#guard(() => this.#stop()));
    if (client.destroyed) {
      this.#finish('client_aborted');
      return;
    }
    const budgets = this.#check(this.#handshake.admitted);
    if (budgets instanceof Promise) void budgets.then((checked) => this.#guard(() => this.#beginWith(checked)));
    else this.#beginWith(budgets);
  }

  #check(admitted: Admitted, models = modelsInTarget(this.#target)) {
    return checkLimits(admitted, this.#record.identity, models, this.#parts.lookUpValue);
  }

  #beginWith(budgets: BudgetCheck | undefined): void {
    if (this.#isFinished) return;
    if (budgets?.isUnread) this.#record.markUnread();
    if (budgets?.refusal) {
      this.#refuse(budgets.refusal);
      return;
    }
    if (budgets && needsModels(budgets)) this.#byModel = budgets;
    this.#connect();
    // After the handshake has been sent.
    setImmediate(() => this.#guard(() => this.#record.register()));
  }

  #refuse(refusal: Refusal): void {
    this.#blockedBy = refusalId(refusal);
    this.#respondOurselves('refused', () => refusalResponse(refusal, this.#handshake.requestId, new Date()));
  }

  /** Ends the connection with the first message that begins what a limit refuses. Its end is not forwarded, so the provider never acts on it. */
  #judge(limits: BudgetCheck, models: readonly string[]): void {
    const ofModels = limits.ofModels.filter((block) => isInForce(block, new Date()));
    const refusal = refusalByModels({ ...limits, ofModels }, this.#record.identity.provider, models);
    if (refusal) this.#endRefused(refusal.id, refusalInShort(refusal));
  }

  /**
   * A connection lasts for hours: between its responses the key and the limits hold as they are now. The client's next bytes wait for that, as they
   * may begin a response.
   */
  async #admitAgain(model: string | null): Promise<void> {
    const inTarget = modelsInTarget(this.#target);
    const models = this.#byModel || inTarget?.length || model === null ? inTarget : [model];
    if (this.#record.showsEnds) this.#client.pause();
    try {
      const admission = await this.#handshake.admitNow();
      const limits = typeof admission === 'string' ? undefined : await this.#check(admission, models);
      if (this.#isFinished || this.#record.isResponding) return;
      if (typeof admission === 'string') this.#endRefused(null, gatewayErrorText(admission));
      else if (limits?.refusal) this.#endRefused(refusalId(limits.refusal), refusalInShort(limits.refusal));
      else if (this.#byModel && admission.owner) this.#byModel = limits;
    } catch (error) {
      logFault(this.#handshake.requestId, error);
    } finally {
      this.#client.resume();
    }
  }

  #endRefused(blockedBy: string | null, reason: string): void {
    if (this.#isCut) return;
    this.#blockedBy = blockedBy;
    this.#cut(POLICY_VIOLATION, reason);
  }

  #cut(code: number, reason: string): void {
    this.#isCut = true;
    this.#provider?.destroy();
    if (this.#record.isBetweenFrames) this.#client.end(closeFrame(code, reason));
    else this.#client.destroy();
    // The client closes when it has the frame, which is lost where its bytes are not taken.
    this.#client.resume();
    this.#expectClose();
  }

  /** The server has waited long enough for the connection's end. */
  #stop(): void {
    this.#record.noteEnd('client_aborted');
    if (!this.#isCut) this.#cut(GOING_AWAY, '');
    this.#expectClose(FLUSH_MS);
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
    // Compressed messages would be read only after they are forwarded.
    const offered = this.#byModel ? withoutHeaders(request.headers, EXTENSIONS) : request.headers;
    const { headers } = upstreamRequestHeaders(offered, origin.host, request.method);
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

  #handleTimeout(): void {
    if (this.#record.status === null) this.#outgoing?.destroy(new Error('timed out'));
    else this.#abort('upstream_aborted');
  }

  #handleUnreachable(): void {
    if (this.#record.status !== null || this.#isFinished) return;
    this.#timer.stop();
    this.#respondOurselves('unreachable', () => gatewayErrorResponse('PROVIDER_ERROR', this.#handshake.requestId));
  }

  #respondOurselves(outcome: KnownOutcome, responseOf: () => GatewayErrorResponse): void {
    this.#record.register().whenKnown(() =>
      this.#guard(() => {
        if (this.#isFinished) return;
        const { status, headers, body } = responseOf();
        this.#respond(status, '', [...headers, 'X-Service-Route', this.#record.decideRoute()]).end([], body);
        this.#finish(outcome);
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
    this.#record.status = incoming.statusCode ?? 0;
    incoming.pause();
    incoming.on('error', ignore);
    this.#timer.begin(this.#parts.timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    this.#record.register().whenKnown(() =>
      this.#guard(() => {
        if (this.#isFinished) return;
        const headers = clientResponseHeaders(
          incoming.rawHeaders,
          this.#record.decideRoute(),
          this.#handshake.requestId,
        );
        const response = this.#respond(incoming.statusCode ?? 0, incoming.statusMessage ?? '', headers);
        response.onDrain(() => incoming.resume());
        incoming.on('data', (chunk: Buffer) => {
          this.#timer.refresh();
          this.#record.countResponseBytes(chunk.length);
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
    this.#record.status = SWITCHING_PROTOCOLS;
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
    this.#record.register().whenKnown(() => this.#guard(() => this.#startRelay(response, provider, head)));
  }

  #startRelay({ statusMessage, rawHeaders }: IncomingMessage, provider: Socket, head: Buffer): void {
    if (this.#isFinished) return;
    const client = this.#client;
    this.#isRelaying = true;
    for (const socket of [client, provider]) socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    const headers = clientResponseHeaders(rawHeaders, this.#record.decideRoute(), this.#handshake.requestId);
    headers.push('Upgrade', headerValue(rawHeaders, 'upgrade') ?? 'websocket', 'Connection', 'Upgrade');
    client.write(responseHead(SWITCHING_PROTOCOLS, statusMessage ?? '', headers), 'latin1');
    this.#record.readFrames(
      headerValue(rawHeaders, 'sec-websocket-extensions'),
      this.#byModel && ((models) => this.#byModel && this.#judge(this.#byModel, models)),
      (model) => void this.#admitAgain(model),
    );
    this.#judging = setInterval(() => {
      if (!this.#record.showsEnds && !this.#record.isResponding) void this.#admitAgain(null);
    }, this.#parts.webSocketJudgeMs ?? JUDGE_MS);
    this.#timer.begin(this.#parts.webSocketIdleMs ?? IDLE_MS, 'waiting for the next frame');
    // A client whose bytes the provider does not take is not read: nobody would see that it has gone.
    provider.setTimeout(this.#parts.timeouts.idleTimeoutMs).on('timeout', () => {
      if (provider.writableNeedDrain && !provider.isPaused()) this.#guard(() => this.#abort('upstream_aborted'));
    });

    client.off('data', this.#keepEarly);
    const early = Buffer.concat(this.#early);
    this.#early = [];
    // These go before the bytes that the sockets still hold.
    if (head.length > 0) {
      client.write(head);
      this.#record.readProvider(head);
    }
    if (early.length > 0) this.#takeFromClient(early, () => provider.write(early));
    pipe(client, provider, (chunk, pass) => this.#takeFromClient(chunk, pass));
    pipe(provider, client, (chunk, pass) => {
      pass();
      this.#timer.refresh();
      this.#record.readProvider(chunk);
    });
    if (client.readableEnded) provider.end();
    client.on('end', () => this.#expectClose());
    provider.on('end', () => {
      this.#record.noteEnd('upstream_aborted');
      this.#expectClose();
    });
    if (provider.destroyed) this.#handleProviderClose();
  }

  /** Reads before it passes on: a limit may refuse what the bytes say. */
  #takeFromClient(chunk: Buffer, pass: () => void): void {
    if (this.#isCut) return;
    this.#timer.refresh();
    this.#record.readClient(chunk);
    if (!this.#isCut) pass();
  }

  /** The second side must close soon after the first. */
  #expectClose(ms = CLOSE_MS): void {
    if (!this.#isFinished) this.#timer.begin(ms, 'closing the connection');
  }

  readonly #handleClientEnd = (): void => {
    this.#record.noteEnd('client_aborted');
    if (!this.#isRelaying && this.#record.status === null) this.#guard(() => this.#abort('client_aborted'));
  };

  readonly #handleClientClose = (): void => {
    this.#guard(() => {
      this.#record.noteEnd('client_aborted');
      if (this.#record.status === null || !this.#provider) this.#abort('client_aborted');
      else {
        this.#provider.destroySoon();
        this.#expectClose(FLUSH_MS);
      }
      this.#finishIfClosed();
    });
  };

  #handleProviderClose(): void {
    this.#record.noteEnd('upstream_aborted');
    // The client gets all of the provider's bytes first.
    if (!this.#isRelaying || this.#isCut) return;
    this.#client.destroySoon();
    this.#expectClose();
    this.#finishIfClosed();
  }

  #finishIfClosed(): void {
    if (this.#client.destroyed && this.#provider?.destroyed !== false)
      this.#finish(this.#record.outcome ?? 'client_aborted');
  }

  #abort(outcome: KnownOutcome): void {
    this.#record.noteEnd(outcome);
    this.#outgoing?.destroy();
    this.#provider?.destroy();
    this.#client.destroy();
    this.#finish(this.#record.outcome ?? outcome);
  }

  #finish(outcome: KnownOutcome): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#timer.stop();
    clearInterval(this.#judging);
    this.#record
      .close(this.#blockedBy === undefined ? outcome : 'refused', {
        isRelayed: this.#isRelaying,
        overheadMs: this.#overheadMs,
        blockedBy: this.#blockedBy,
      })
      .catch((error: unknown) => logFault(this.#handshake.requestId, error))
      .finally(this.#done);
  }
}
