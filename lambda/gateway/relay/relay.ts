import { isOfModel } from '../../domain/limits/access.ts';
import { unavailablePolicy } from '../../domain/limits/block.ts';
import { dialectOf, modelOfPath, withoutPath } from '../../domain/usage/dialect.ts';
import type { CloseEvent } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { Fingerprint } from '../admission/fingerprint.ts';
import type { ValueLookup } from '../admission/value-lookup.ts';
import type { BodyFacts } from '../meter/request-reader.ts';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import { type GatewayErrorResponse, gatewayErrorResponse } from '../protocol/gateway-error.ts';
import { clientResponseHeaders, headerValue, hopByHop, type RawHeaders, withoutHeaders } from '../protocol/headers.ts';
import { pathOf, upstreamTarget } from '../protocol/target.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { Upstream, UpstreamExchange, UpstreamHead, UpstreamListener } from '../upstream/upstream.ts';
import {
  type BudgetCheck,
  checkLimits,
  needsBody,
  needsPrice,
  type Refusal,
  refusalByModels,
  refusalByPrice,
  refusalId,
  refusalResponse,
  remainingHeader,
} from './budget-check.ts';
import { CloseEventBuilder, type KnownOutcome } from './close-event-builder.ts';
import { DecodedStream, isEventStream } from './decoded-stream.ts';
import { logFault } from './fault-log.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { providerKeyOf, type Registration, register, routeOf } from './registration.ts';
import { RequestCopy } from './request-copy.ts';
import { type RequestIdentity, requestIdentity } from './request-identity.ts';
import type { Reserve, ReserveResult } from './reserve.ts';
import { ResponsePipe } from './response-pipe.ts';
import { UsageChunkFilter } from './usage-chunk-filter.ts';

export interface Forwarding {
  readonly request: GatewayRequest;
  readonly client: ClientResponse;
  readonly admitted: Admitted;
  readonly requestId: string;
  /** When the request arrived, on the monotonic clock. */
  readonly startedAtMs: number;
}

export interface RelayParts {
  readonly fingerprint: Fingerprint;
  readonly tracker: Tracker;
  readonly upstream: Upstream;
  /** Runs what a request still needs once its response has ended. */
  readonly afterResponse: (work: () => void) => void;
  readonly lookUpValue: ValueLookup;
  /** Loads what reserves from budgets, for an account that has such. */
  readonly loadReserve: () => Promise<Reserve>;
  /** Origins used instead of the providers' own, by label. */
  readonly upstreamOrigins: ReadonlyMap<string, string>;
}

/**
 * Relays one admitted request. Forwards it and sends its open event at the same time, relays the response as it arrives while
 * a meter reads a copy, then sends the close event. Resolves when that is delivered. Never rejects.
 */
export const forward = (parts: RelayParts, forwarding: Forwarding): Promise<void> =>
  new Promise((resolve) => new Relay(parts, forwarding, resolve).begin());

class Relay implements UpstreamListener {
  readonly #parts: RelayParts;
  readonly #forwarding: Forwarding;
  readonly #done: () => void;
  readonly #target: string;
  readonly #path: string;
  readonly #copy: RequestCopy;
  readonly #closeEventBuilder: CloseEventBuilder;
  #exchange: UpstreamExchange | undefined;
  #identity: RequestIdentity | undefined;
  #registration: Registration | undefined;
  #askedForUsage = false;
  #budgets: BudgetCheck | undefined;
  /** Set for a request that is not forwarded. */
  #blockedBy: string | null | undefined;
  #pipe: ResponsePipe | undefined;
  #isClientStarted = false;
  /** How the response ended while its headers waited for the route. */
  #earlyEnd: { readonly trailers: RawHeaders } | 'interrupted' | undefined;
  #isFinished = false;
  /** Set once a body was read whole. */
  #releaseBody: (() => void) | undefined;

  constructor(parts: RelayParts, forwarding: Forwarding, done: () => void) {
    this.#parts = parts;
    this.#forwarding = forwarding;
    this.#done = done;
    const { request, admitted, startedAtMs } = forwarding;
    this.#target = upstreamTarget(admitted.target ?? request.target, admitted.provider);
    this.#path = pathOf(this.#target);
    this.#copy = new RequestCopy(request, this.#path);
    this.#closeEventBuilder = new CloseEventBuilder(this.#copy, startedAtMs);
  }

  begin(): void {
    this.#guard(this.#start, undefined);
  }

  onHeaders(head: UpstreamHead): void {
    this.#guard(this.#handleHeaders, head);
  }

  onInterim({ status, statusMessage, headers }: UpstreamHead): void {
    if (!this.#isFinished) this.#forwarding.client.inform?.(status, statusMessage, withoutHeaders(headers, hopByHop));
  }

  onData(chunk: Buffer): void {
    this.#guard(this.#handleData, chunk);
  }

  onEnd(trailers: RawHeaders): void {
    this.#guard(this.#handleEnd, trailers);
  }

  onError(): void {
    this.#guard(this.#handleUpstreamFailure, undefined);
  }

  onRequestBytes(chunk: Buffer): void {
    this.#copy.read(chunk);
  }

  onRequestEnd(): void {
    this.#copy.finish();
  }

  /** A fault of ours fails this request, not the process with all its other requests. */
  #guard<A>(step: (argument: A) => void, argument: A): void {
    try {
      step.call(this, argument);
    } catch (error) {
      this.#respondWithFault(error);
    }
  }

  #respondWithFault(error: unknown): void {
    const { client, requestId } = this.#forwarding;
    logFault(requestId, error);
    this.#exchange?.abort();
    if (this.#isFinished) return;
    if (this.#isClientStarted) client.abort();
    else this.#respondWith(gatewayErrorResponse('INTERNAL', requestId));
    this.#finish('upstream_aborted');
  }

  #start(): void {
    const { request, client, admitted } = this.#forwarding;
    client.onDisconnect(() => this.#handleDisconnect());
    if (this.#isFinished) return;
    // The identity can wait until the request is sent, unless budgets need it.
    if (admitted.blocks === undefined) {
      this.#forwardOrRefuse(request, admitted);
      return;
    }
    const model = modelOfPath(this.#path);
    const models = model === null ? undefined : [model];
    const budgets = checkLimits(admitted, this.#identify(), models, this.#parts.lookUpValue);
    if (budgets instanceof Promise) void budgets.then((checked) => this.#guard(this.#beginWith, checked));
    else this.#beginWith(budgets);
  }

  #beginWith(budgets: BudgetCheck | undefined): void {
    if (this.#isFinished) return;
    const { request, admitted } = this.#forwarding;
    this.#budgets = budgets;
    if (budgets?.isUnread) this.#identity = { ...this.#identify(), blocksUnread: true };
    this.#forwardOrRefuse(request, admitted);
  }

  #forwardOrRefuse(request: GatewayRequest, admitted: Admitted): void {
    if (this.#budgets?.refusal) {
      this.#refuse(this.#budgets.refusal);
      return;
    }
    const origin = this.#parts.upstreamOrigins.get(admitted.provider.label) ?? admitted.provider.origin;
    const prepared = prepareRequest(request, admitted, origin, this.#target, this.#path, needsBody(this.#budgets));
    if (prepared instanceof Promise) {
      prepared.then(
        (ready) => this.#guard(this.#prepare, ready),
        () => this.#handleDisconnect(),
      );
      // The body may take long to arrive: the request is registered before that.
      setImmediate(() => this.#guard(() => this.#exchange ?? this.#registerOnce(), undefined));
    } else this.#prepare(prepared);
  }

  #prepare(prepared: PreparedRequest): void {
    this.#releaseBody = prepared.releaseBody;
    if (this.#isFinished) {
      this.#releaseBody?.();
      return;
    }
    if (prepared.wholeBody) this.#copy.keepWhole(prepared.wholeBody);
    const facts = needsBody(this.#budgets) && prepared.wholeBody !== null ? this.#copy.facts() : null;
    // A large body is read in slices, a compressed one is decoded: budgets wait for that.
    if (facts instanceof Promise)
      void facts.then((read) => this.#guard(() => this.#checkBody(prepared, read), undefined));
    else this.#checkBody(prepared, facts);
  }

  /** @param facts null where the body need not be read, or could not be read whole */
  #checkBody(prepared: PreparedRequest, facts: BodyFacts | null): void {
    if (this.#isFinished) return;
    const budgets = this.#budgets;
    if (!needsBody(budgets)) {
      this.#send(prepared);
      return;
    }
    const models = this.#modelsOf(facts);
    const refusal = refusalByModels(budgets, this.#identify().provider, models);
    if (refusal) this.#refuse(refusal);
    else if (needsPrice(budgets))
      this.#reserve(prepared, budgets, models, facts).catch((error: unknown) => this.#respondWithFault(error));
    else this.#send(prepared);
  }

  /** Forwards the request once its budgets hold the most that it may cost, and where access rules allow that much. */
  async #reserve(
    prepared: PreparedRequest,
    budgets: BudgetCheck,
    models: readonly string[],
    facts: BodyFacts | null,
  ): Promise<void> {
    const { accountId, provider, startedAt } = this.#identify();
    const size = {
      provider,
      dialect: dialectOf(this.#copy.method, this.#path),
      models,
      serviceTier: facts?.serviceTier ?? null,
      body: this.#copy.isPlain ? prepared.wholeBody : null,
      prompt: facts?.prompt.count() ?? null,
      billableItems: facts?.billableItems ?? {},
      startedAt,
    };
    const own = budgets.reserved.filter(({ scope }) => isOfModel(scope.model, provider, models));
    let result: ReserveResult | { readonly kind: 'refused'; readonly refusal: Refusal };
    try {
      const reserve = await this.#parts.loadReserve();
      const tooDear =
        budgets.accessByPrice.length > 0 && refusalByPrice(budgets, provider, models, await reserve.mostNanoUsd(size));
      result = tooDear ? { kind: 'refused', refusal: tooDear } : await reserve(accountId as string, own, size);
      if (this.#isFinished && result.kind === 'reserved')
        await reserve.release(accountId as string, result.reservations);
    } catch (error) {
      logFault(this.#forwarding.requestId, error);
      result = { kind: 'unavailable', policy: unavailablePolicy(own) };
    }
    if (this.#isFinished) return;
    if (result.kind === 'refused') this.#refuse(result.refusal);
    else if (result.kind === 'unavailable' && result.policy === 'stop') this.#refuse('blocks-unread');
    else {
      if (result.kind === 'reserved') this.#closeEventBuilder.reservations = result.reservations;
      else this.#identity = { ...this.#identify(), blocksUnread: true };
      this.#send(prepared);
    }
  }

  #send({ upstream, askedForUsage }: PreparedRequest): void {
    this.#askedForUsage = askedForUsage;
    this.#closeEventBuilder.recordSend();
    try {
      this.#exchange = this.#parts.upstream.send(upstream, askedForUsage ? new DecodedStream(this) : this);
      this.#pipe = new ResponsePipe({
        exchange: this.#exchange,
        client: this.#forwarding.client,
        closeEventBuilder: this.#closeEventBuilder,
        onFault: (error) => this.#respondWithFault(error),
      });
    } catch {
      // Node refuses to send some requests, such as a path with control characters.
      process.nextTick(() => this.#handleUpstreamFailure());
    }
    // After the request has been written. On an idle connection undici does that in an immediate of its own, which it sets in a microtask
    // where the body is a stream.
    queueMicrotask(() => setImmediate(() => this.#guard(this.#registerAndReadBody, undefined)));
  }

  /** The models that may serve the request: those of its path, or of its body if that could be read whole. */
  #modelsOf(facts: BodyFacts | null): readonly string[] {
    const model = modelOfPath(this.#path) ?? facts?.model ?? null;
    const { provider } = this.#identify();
    return [...(model === null ? [] : [model]), ...(facts?.fallbacks ?? [])].map((each) => withoutPath(provider, each));
  }

  /** Responds without forwarding anything. */
  #refuse(refusal: Refusal): void {
    this.#blockedBy = refusalId(refusal);
    this.#registerOnce().whenKnown(() => {
      if (this.#isFinished) return;
      this.#respondWith(refusalResponse(refusal, this.#forwarding.requestId, new Date()));
      this.#finish('refused');
    });
  }

  #registerAndReadBody(): void {
    this.#registerOnce();
    // After the event has left: the response's headers may wait for its confirmation.
    process.nextTick(() => this.#guard(() => this.#copy.readWhole(), undefined));
  }

  #identify(): RequestIdentity {
    const { request, admitted, requestId } = this.#forwarding;
    this.#identity ??= requestIdentity(request, admitted, requestId, this.#path);
    return this.#identity;
  }

  /** Sends the open event, once. Until the close event arrives, it is the only record of this request. */
  #registerOnce(): Registration {
    this.#registration ??= register(this.#forwarding.requestId, () => {
      const fingerprint = providerKeyOf(this.#parts, this.#forwarding);
      const providerKey = fingerprint instanceof Promise ? null : fingerprint;
      return this.#parts.tracker.open({ ...this.#identify(), kind: 'open', providerKey });
    });
    return this.#registration;
  }

  /** The route in the response header is the one in the record, even if the queue responds later. */
  #decideRoute(): CloseEvent['route'] {
    const route = routeOf(this.#registration, this.#forwarding.admitted.owner);
    this.#closeEventBuilder.route = route;
    return route;
  }

  #handleHeaders(head: UpstreamHead): void {
    if (head.status < 200) {
      // Not a status of a final response. Node's client passes it on, but its server refuses to send it.
      this.#exchange?.abort();
      this.#handleUpstreamFailure();
      return;
    }
    this.#closeEventBuilder.recordHead(head, this.#forwarding.admitted.provider.usageHeaders);
    // The provider has the body.
    void Promise.resolve(this.#copy.readWhole()).then(this.#releaseBody);
    this.#registerOnce().whenKnown(() => this.#guard(this.#startRelay, head));
  }

  #startRelay({ status, statusMessage, headers }: UpstreamHead): void {
    if (this.#isFinished) return;
    const isPlain = headerValue(headers, 'content-encoding') === undefined;
    const filter = this.#askedForUsage && isPlain && isEventStream(headers) ? new UsageChunkFilter() : undefined;
    const { requestId } = this.#forwarding;
    const route = this.#decideRoute();
    const forClient = clientResponseHeaders(headers, route, requestId, filter !== undefined);
    const remaining = this.#budgets?.remainingNanoUsd ?? null;
    if (remaining !== null) forClient.push('X-Service-Budget-Remaining', remainingHeader(remaining));
    this.#startClient(status, statusMessage, forClient);
    this.#pipe?.open(filter, this.#earlyEnd !== undefined);
    if (this.#earlyEnd === 'interrupted') this.#handleUpstreamFailure();
    else if (this.#earlyEnd) this.#handleEnd(this.#earlyEnd.trailers);
  }

  #handleData(chunk: Buffer): void {
    // A decoder may yield more after the end.
    if (!this.#isFinished) this.#pipe?.take(chunk);
  }

  #handleEnd(trailers: RawHeaders): void {
    if (this.#isFinished) return;
    if (!this.#isClientStarted) {
      this.#earlyEnd = { trailers };
      return;
    }
    this.#forwarding.client.end(trailers, this.#pipe?.takeRest());
    this.#finish('completed');
  }

  #startClient(status: number, message: string, headers: string[]): void {
    this.#forwarding.client.start(status, message, headers);
    this.#isClientStarted = true;
  }

  /** Before the headers: 502. After them: interrupts the client's response, as the provider's was. */
  #handleUpstreamFailure(): void {
    if (this.#isFinished) return;
    if (!this.#closeEventBuilder.hasResponse) this.#registerOnce().whenKnown(() => this.#respondUnreachable());
    // The headers have arrived and wait for the route: the client gets them before the end.
    else if (!this.#isClientStarted) this.#earlyEnd = 'interrupted';
    else {
      const { client } = this.#forwarding;
      const rest = this.#pipe?.takeRest();
      if (rest) client.write(rest);
      client.abort();
      // A paused provider sends nothing: the client caused that silence.
      this.#finish(this.#pipe?.isPaused ? 'client_aborted' : 'upstream_aborted');
    }
  }

  #respondUnreachable(): void {
    if (this.#isFinished) return;
    this.#respondWith(gatewayErrorResponse('PROVIDER_ERROR', this.#forwarding.requestId));
    this.#finish('unreachable');
  }

  #respondWith({ status, headers, body }: GatewayErrorResponse): void {
    const { client } = this.#forwarding;
    this.#startClient(status, '', [...headers, 'X-Service-Route', this.#decideRoute()]);
    client.write(body);
    client.end([]);
  }

  #handleDisconnect(): void {
    if (this.#isFinished) return;
    this.#exchange?.abort();
    this.#finish('client_aborted');
  }

  #finish(outcome: KnownOutcome): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#closeEventBuilder.recordEnd();
    this.#pipe?.discardRest();
    this.#parts.afterResponse(() => this.#record(outcome));
  }

  #record(outcome: KnownOutcome): void {
    this.#deliverCloseEvent(outcome)
      // The open event still records the request.
      .catch((error: unknown) => logFault(this.#forwarding.requestId, error))
      .finally(() => {
        this.#releaseBody?.();
        this.#done();
      });
  }

  /** Async, so that a fault in here becomes a rejection. */
  async #deliverCloseEvent(outcome: KnownOutcome): Promise<void> {
    const providerKey = providerKeyOf(this.#parts, this.#forwarding);
    this.#closeEventBuilder.routeAtEnd = routeOf(this.#registration, this.#forwarding.admitted.owner);
    await this.#parts.tracker.close(
      await this.#closeEventBuilder.build(this.#identify(), outcome, providerKey, this.#blockedBy),
    );
  }
}
