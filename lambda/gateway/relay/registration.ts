/** How long an answer's headers may wait for the open event's acceptance: past it the request is `bypassed`. */
const OPEN_EVENT_GRACE_MS = 50;

/** What became of a request's open event: the queue has it, would not take it, or has not answered yet. */
export class Registration {
  #accepted: boolean | undefined;
  #whenKnown: (() => void) | undefined;

  /** @param accepted resolves with the queue's word; never rejects */
  constructor(accepted: Promise<boolean>) {
    void accepted.then((word) => {
      this.#accepted = word;
      this.#whenKnown?.();
    });
  }

  /** True once the queue has the event: the request is sure to be on record. */
  get accepted(): boolean {
    return this.#accepted === true;
  }

  /** Calls back once: at once where the queue's word is known, else when it comes or the grace is over. */
  whenKnown(then: () => void): void {
    if (this.#accepted !== undefined) {
      then();
      return;
    }
    const once = (): void => {
      clearTimeout(timer);
      this.#whenKnown = undefined;
      then();
    };
    this.#whenKnown = once;
    const timer = setTimeout(once, OPEN_EVENT_GRACE_MS);
  }
}
