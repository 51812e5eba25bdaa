import type { CloseEvent } from '../../domain/usage/usage-event.ts';
import type { KeyOwner } from '../admission/account-lookup.ts';
import type { Admitted } from '../admission/admit.ts';
import type { Fingerprint } from '../admission/fingerprint.ts';
import { logFault } from './fault-log.ts';

interface Forwarded {
  readonly admitted: Admitted;
  readonly requestId: string;
}

/** The longest that response headers wait for the queue to accept the open event. After that the request is `bypassed`. */
const OPEN_EVENT_GRACE_MS = 50;

/** The state of a request's open event: accepted by the queue, refused, or still unknown. */
export class Registration {
  #accepted: boolean | undefined;
  #whenKnown: (() => void) | undefined;
  #grace: NodeJS.Timeout | undefined;

  /** @param accepted whether the queue accepted the event; never rejects */
  constructor(accepted: Promise<boolean>) {
    void accepted.then((isAccepted) => {
      this.#accepted = isAccepted;
      this.#callBack();
    });
  }

  /** True once the queue has the event: the request will be recorded. */
  get accepted(): boolean {
    return this.#accepted === true;
  }

  /**
   * Calls back once: when the queue has responded, or after OPEN_EVENT_GRACE_MS. Synchronous if it already has. A response that has
   * arrived by then counts: after a stall of this process Node runs timers before it reads sockets.
   */
  whenKnown(callback: () => void): void {
    if (this.#accepted !== undefined) {
      callback();
      return;
    }
    this.#whenKnown = callback;
    this.#grace = setTimeout(Registration.#readThenCallBack, OPEN_EVENT_GRACE_MS, this);
  }

  static #readThenCallBack(registration: Registration): void {
    setImmediate(() => registration.#callBack());
  }

  #callBack(): void {
    const callback = this.#whenKnown;
    if (!callback) return;
    this.#whenKnown = undefined;
    clearTimeout(this.#grace);
    callback();
  }
}

/** The fingerprint of a credential. A fault of ours is as if its key could not be read: the record lacks it. */
export const providerKeyOf = ({ fingerprint }: { readonly fingerprint: Fingerprint }, forwarding: Forwarded) => {
  try {
    return fingerprint(forwarding.admitted.credential);
  } catch (error) {
    logFault(forwarding.requestId, error);
    return null;
  }
};

/** Sends an open event. A fault of ours is as if the queue refused it: the request goes on. */
export const register = (requestId: string, open: () => Promise<boolean>): Registration => {
  try {
    return new Registration(open());
  } catch (error) {
    logFault(requestId, error);
    return new Registration(Promise.resolve(false));
  }
};

/** The route of a request: tracked only if the queue has its open event and its account is known. */
export const routeOf = (registration: Registration | undefined, owner: KeyOwner | null): CloseEvent['route'] =>
  registration?.accepted && owner ? 'governed' : 'bypassed';
