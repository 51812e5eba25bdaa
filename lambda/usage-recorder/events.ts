import type { CloseEvent, OpenEvent, UntrackedEvent, UsageEvent } from '../domain/usage/usage-event.ts';

/** An event whose account is known. */
type AccountEvent<E extends UsageEvent = UsageEvent> = Omit<E, 'unverifiedKeyHash' | 'accountId'> & {
  readonly accountId: string;
};
export type AccountOpenEvent = AccountEvent<OpenEvent>;
export type AccountCloseEvent = AccountEvent<CloseEvent>;
export type AccountUntrackedEvent = AccountEvent<UntrackedEvent>;

export const isClose = (event: AccountOpenEvent | AccountCloseEvent): event is AccountCloseEvent =>
  event.kind === 'close';

/** What tells one request from all others. */
export const nameOf = ({ accountId, requestId }: { readonly accountId: string; readonly requestId: string }): string =>
  `${accountId}#${requestId}`;

/**
 * One event for each request: the first close event where there is one, since it says all that an open event says and more.
 * Any other event of the same request shares its result. By name.
 */
export const onePerRequest = <E extends AccountOpenEvent | AccountCloseEvent>(events: readonly E[]): Map<string, E> => {
  const chosen = new Map<string, E>();
  for (const event of events) {
    const before = chosen.get(nameOf(event));
    if (!before || (isClose(event) && !isClose(before))) chosen.set(nameOf(event), event);
  }
  return chosen;
};
