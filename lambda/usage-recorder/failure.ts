import { UnreadableItemError } from '../data/table/unreadable-item.ts';

/** An event that could not be recorded. `permanent`: the same event would fail again. */
export interface FailedEvent {
  readonly kind: 'failed';
  readonly error: unknown;
  readonly permanent: boolean;
}

export const failure = (error: unknown, permanent = error instanceof UnreadableItemError): FailedEvent => ({
  kind: 'failed',
  error,
  permanent,
});
