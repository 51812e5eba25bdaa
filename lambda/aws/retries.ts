import { setTimeout as sleep } from 'node:timers/promises';
import { type AwsCall, AwsCallError, AwsUnavailableError } from './aws-json.ts';

const MAX_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 50;

/** Those of the services used here. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ThrottlingException',
  // A transaction has the item of a single write.
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/** Whether AWS refused a call because there are too many: nothing was done. */
export const isThrottled = (error: unknown): boolean => THROTTLED.has((error as { readonly code?: string }).code ?? '');

/** Whether the same call may succeed later: AWS is too busy, fails, or gave no response. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof AwsUnavailableError || isThrottled(error) || (error instanceof AwsCallError && error.status >= 500);

/** The same call, tried up to three times, as the AWS SDKs do: the writes it is used for may run twice. */
export const withRetries =
  (call: AwsCall): AwsCall =>
  async (operation, input, timeoutMs) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(operation, input, timeoutMs);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isTemporary(error)) throw error;
        await sleep(Math.random() * FIRST_BACKOFF_MS * 2 ** attempt);
      }
    }
  };
