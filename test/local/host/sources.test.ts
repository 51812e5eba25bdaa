import { describe, expect, it } from '@jest/globals';
import { succeeded } from '../../../local/host/sources/sqs-poller.ts';

describe('the outcome of a batch', () => {
  const ids = ['a', 'b', 'c'];
  it.each([
    ['nothing failed', { batchItemFailures: [] }, ids],
    ['no response', null, ids],
    ['a response without failures', {}, ids],
    ['one failed', { batchItemFailures: [{ itemIdentifier: 'b' }] }, ['a', 'c']],
    ['an unknown identifier', { batchItemFailures: [{ itemIdentifier: 'x' }] }, []],
    ['an empty identifier', { batchItemFailures: [{ itemIdentifier: '' }] }, []],
    ['a malformed response', { batchItemFailures: 'b' }, []],
  ])('%s', (_, response, expected) => {
    expect(succeeded(ids, response)).toEqual(expected);
  });
});
