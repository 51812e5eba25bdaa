import type { CloseEvent } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { Fingerprint } from '../admission/fingerprint.ts';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import { type GatewayErrorCode, gatewayErrorResponse } from '../protocol/gateway-error.ts';
import { clientResponseHeaders, headerValue, type RawHeaders } from '../protocol/headers.ts';
import { pathOf, upstreamTarget } from '../protocol/target.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { Upstream, UpstreamExchange, UpstreamHead, UpstreamListener } from '../upstream/upstream.ts';
import { CloseEventBuilder, type KnownOutcome } from './close-event-builder.ts';
import { logFault } from './fault-log.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { Registration } from './registration.ts';
import { RequestCopy } from './request-copy.ts';
import { type RequestIdentity, requestIdentity } from './request-identity.ts';
import { ResponsePipe } from './response-pipe.ts';
import { UsageChunkFilter } from './usage-chunk-filter.ts';

export interface Forwarding {
  readonly request: GatewayRequest;
  readonly client: ClientResponse;
  readonly admitted: Admitted;
  readonly requestId: string;
  readonly startedAt: Date;
  /** The same moment on the monotonic clock. */
  readonly startedAtMs: number;
}

export interface RelayParts {
  readonly fingerprint: Fingerprint;
  readonly tracker: Tracker;
  readonly upstream: Upstream;
  /** Origins used instead of the providers' own, by label. */
  readonly upstreamOrigins: ReadonlyMap<string, string>;
}

/**
 * Forwards one admitted request and registers it, side by side; relays the answer as it comes while a meter reads a copy;
 * settles it with one close event. Resolves when that is delivered. Never rejects.
 */
export const forward = (parts: RelayParts, forwarding: Forwarding): Promise<void> =>
  new Promise((resolve) => new Relay(parts, forwarding, resolve).begin());

const isPlainEventStream = (headers: RawHeaders): boolean =>
  headerValue(headers, 'content-encoding') === undefined &&
  headerValue(headers, 'content-type')?.startsWith('text/event-stream') === true;

class Relay implements UpstreamListener {
  readonly #parts: RelayParts;
  readonly #forwarding: Forwarding;
  readonly #done: () => void;
  readonly #target: string;
  readonly #path: string;
  readonly #copy: RequestCopy;
  readonly #closeEventBuilder: CloseEventBuilder;
  #exchange: UpstreamExchange | undefined;
  #facts: RequestIdentity | undefined;
  #registration: Registration | undefined;
  #askedForUsage = false;
  #pipe: ResponsePipe | undefined;
  #started = false;
  /** How the answer ended while its headers waited. */
  #endedEarly: { readonly trailers: RawHeaders } | 'broken' | undefined;
  #finished = false;

  constructor(parts: RelayParts, forwarding: Forwarding, done: () => void) {
    this.#parts = parts;
    this.#forwarding = forwarding;
    this.#done = done;
    const { request, admitted, startedAtMs } = forwarding;
    this.#target = upstreamTarget(request.target, admitted.provider);
    this.#path = pathOf(this.#target);
    this.#copy = new RequestCopy(request, this.#path);
    this.#closeEventBuilder = new CloseEventBuilder(this.#copy, startedAtMs);
  }

  begin(): void {
    this.#guard(this.#start, undefined);
  }

  onHeaders(head: UpstreamHead): void {
    this.#guard(this.#headers, head);
  }

  onData(chunk: Buffer): void {
    this.#guard(this.#data, chunk);
  }

  onEnd(trailers: RawHeaders): void {
    this.#guard(this.#end, trailers);
  }

  onError(): void {
    this.#guard(this.#upstreamFailed, undefined);
  }

  onRequestBytes(chunk: Buffer): void {
    this.#copy.sent(chunk);
  }

  onRequestEnd(): void {
    this.#copy.ended();
  }

  /** A fault of ours costs the one request, not the process and all that it carries. */
  #guard<A>(step: (argument: A) => void, argument: A): void {
    try {
      step.call(this, argument);
    } catch (error) {
      this.#faulted(error);
    }
  }

  #faulted(error: unknown): void {
    const { client, requestId } = this.#forwarding;
    logFault(requestId, error);
    this.#exchange?.abort();
    if (this.#finished) return;
    if (this.#started) client.abort();
    else this.#answer('INTERNAL');
    this.#finish('upstream_aborted');
  }

  #start(): void {
    const { request, client, admitted } = this.#forwarding;
    client.onLeave(() => this.#clientLeft());
    if (this.#finished) return;
    const origin = this.#parts.upstreamOrigins.get(admitted.provider.label) ?? admitted.provider.origin;
    const prepared = prepareRequest(request, admitted, origin, this.#target, this.#path);
    if (prepared instanceof Promise) {
      prepared.then(
        (ready) => this.#guard(this.#send, ready),
        () => this.#clientLeft(),
      );
      // A body that is not here yet may take long, and what it is for is to be known.
      setImmediate(() => this.#guard(this.#registeredIfUnsent, undefined));
    } else this.#send(prepared);
  }

  #send({ upstream, gathered, askedForUsage }: PreparedRequest): void {
    if (this.#finished) return;
    this.#askedForUsage = askedForUsage;
    if (gathered) this.#copy.sending(gathered);
    this.#closeEventBuilder.sending();
    try {
      this.#exchange = this.#parts.upstream.send(upstream, this);
      this.#pipe = new ResponsePipe({
        exchange: this.#exchange,
        client: this.#forwarding.client,
        closeEventBuilder: this.#closeEventBuilder,
        faulted: (error) => this.#faulted(error),
      });
    } catch {
      // Node refuses what cannot be sent, such as a path with control characters.
      process.nextTick(() => this.#upstreamFailed());
    }
    // Once the request is on its way: undici sends on a connection that stood idle in the next phase, before this.
    setImmediate(() => this.#guard(this.#sent, undefined));
  }

  #sent(): void {
    this.#registered();
    this.#copy.readSent();
  }

  #registeredIfUnsent(): void {
    if (!this.#exchange) this.#registered();
  }

  #requestIdentity(): RequestIdentity {
    const { request, admitted, requestId, startedAt } = this.#forwarding;
    this.#facts ??= requestIdentity(request, admitted, requestId, startedAt, this.#path);
    return this.#facts;
  }

  /** The open event, sent once: until the close event comes, it is what is known of this request. */
  #registered(): Registration {
    if (this.#registration) return this.#registration;
    const fingerprint = this.#parts.fingerprint(this.#forwarding.admitted.credential);
    const providerKey = fingerprint instanceof Promise ? null : fingerprint;
    this.#registration = new Registration(
      this.#parts.tracker.open({ ...this.#requestIdentity(), kind: 'open', providerKey }),
    );
    return this.#registration;
  }

  /** What the client is told is what the record says, whatever the queue says later. */
  #decideRoute(): CloseEvent['route'] {
    const route = this.#registration?.accepted && this.#forwarding.admitted.owner ? 'governed' : 'bypassed';
    this.#closeEventBuilder.route = route;
    return route;
  }

  #headers(head: UpstreamHead): void {
    if (head.status < 200) {
      // No final answer has such a status. Node's client lets it through, and its server would not send it.
      this.#exchange?.abort();
      this.#upstreamFailed();
      return;
    }
    this.#closeEventBuilder.answered(head);
    this.#registered().whenKnown(() => this.#guard(this.#relay, head));
  }

  #relay({ status, statusMessage, headers }: UpstreamHead): void {
    if (this.#finished) return;
    const filter = this.#askedForUsage && isPlainEventStream(headers) ? new UsageChunkFilter() : undefined;
    const { requestId } = this.#forwarding;
    const route = this.#decideRoute();
    this.#startClient(status, statusMessage, clientResponseHeaders(headers, route, requestId, filter !== undefined));
    this.#pipe?.open(filter, this.#endedEarly !== undefined);
    if (this.#endedEarly === 'broken') this.#upstreamFailed();
    else if (this.#endedEarly) this.#end(this.#endedEarly.trailers);
  }

  #data(chunk: Buffer): void {
    this.#pipe?.take(chunk);
  }

  #end(trailers: RawHeaders): void {
    if (this.#finished) return;
    if (!this.#started) {
      this.#endedEarly = { trailers };
      return;
    }
    this.#forwarding.client.end(trailers, this.#pipe?.rest());
    this.#finish('completed');
  }

  #startClient(status: number, message: string, headers: string[]): void {
    this.#forwarding.client.start(status, message, headers);
    this.#started = true;
  }

  /** Before the headers: 502. After them the client's answer breaks off as the provider's did. */
  #upstreamFailed(): void {
    if (this.#finished) return;
    if (!this.#closeEventBuilder.hasResponse) this.#registered().whenKnown(() => this.#answerUnreachable());
    // Its headers are here and wait for the route: the client is to see them before the end.
    else if (!this.#started) this.#endedEarly = 'broken';
    else {
      const { client } = this.#forwarding;
      const rest = this.#pipe?.rest();
      if (rest) client.write(rest);
      client.abort();
      // While the client reads nothing, nothing moves: that silence is the client's.
      this.#finish(this.#pipe?.isPaused ? 'client_aborted' : 'upstream_aborted');
    }
  }

  #answerUnreachable(): void {
    if (this.#finished) return;
    this.#answer('PROVIDER_ERROR');
    this.#finish('unreachable');
  }

  #answer(code: GatewayErrorCode): void {
    const { client, requestId } = this.#forwarding;
    const answer = gatewayErrorResponse(code, requestId);
    this.#startClient(answer.status, '', [...answer.headers, 'X-Service-Route', this.#decideRoute()]);
    client.write(answer.body);
    client.end([]);
  }

  #clientLeft(): void {
    if (this.#finished) return;
    this.#exchange?.abort();
    this.#finish('client_aborted');
  }

  #finish(outcome: KnownOutcome): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#pipe?.discard();
    this.#settle(outcome)
      // The open event still tells of the request.
      .catch((error: unknown) => logFault(this.#forwarding.requestId, error))
      .finally(this.#done);
  }

  /** Asynchronous, so that a fault in here is a rejection, too. */
  async #settle(outcome: KnownOutcome): Promise<void> {
    const { tracker, fingerprint } = this.#parts;
    const providerKey = fingerprint(this.#forwarding.admitted.credential);
    await tracker.close(await this.#closeEventBuilder.closeEvent(this.#requestIdentity(), outcome, providerKey));
  }
}
