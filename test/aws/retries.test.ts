import { describe, expect, it } from '@jest/globals';
import { AwsCallError, AwsUnavailableError } from '../../lambda/aws/aws-json.ts';
import { isThrottled, withRetries } from '../../lambda/aws/retries.ts';

const refused = (type: string, status = 400) => new AwsCallError({ __type: `service#${type}` }, status);

/** How often a call is made that always fails with this error. */
const attemptsWith = async (error: Error): Promise<number> => {
  let attempts = 0;
  const call = withRetries(async () => {
    attempts++;
    throw error;
  });
  await expect(call('Operation', {}, 1_000)).rejects.toBe(error);
  return attempts;
};

describe('calls to AWS', () => {
  it.each([
    ['too many calls', refused('ProvisionedThroughputExceededException'), 3],
    ['a queue that is too busy', refused('RequestThrottled', 403), 3],
    ['a write of an item that a transaction has', refused('TransactionConflictException'), 3],
    ['a failure of AWS', refused('InternalServerError', 500), 3],
    ['no response', new AwsUnavailableError('no response within 5000 ms'), 3],
    ['credentials that are missing', new Error('Set AWS_ACCESS_KEY_ID'), 1],
    ['a condition that does not hold', refused('ConditionalCheckFailedException'), 1],
    ['a permission that is missing', refused('AccessDeniedException'), 1],
    ['a transaction that is refused', refused('TransactionCanceledException'), 1],
  ])('after %s', async (_, error, attempts) => {
    expect(await attemptsWith(error)).toBe(attempts);
  });

  it('succeed with what a later attempt returns', async () => {
    const responses = [refused('ThrottlingException'), { Item: 1 }];
    const call = withRetries(async () => {
      const response = responses.shift();
      if (response instanceof Error) throw response;
      return response ?? {};
    });
    expect(await call('Operation', {}, 1_000)).toEqual({ Item: 1 });
  });

  it('are throttled by code, whatever the status', () => {
    expect(isThrottled(refused('ThrottlingException'))).toBe(true);
    expect(isThrottled(refused('ValidationException'))).toBe(false);
    expect(isThrottled(new Error('ThrottlingException'))).toBe(false);
  });
});
