import { expect, it } from '@jest/globals';
import { contributionOf } from '../../../lambda/domain/spend/contribution.ts';
import { recordOf } from '../../usage-recorder/events.ts';

it('a record contributes only counters that are not zero', () => {
  const names = { model: 'gpt-4o-2024-08-06', tag: 'search', keyId: 'key-1', providerKey: 'fingerprint' };
  expect(contributionOf(recordOf({ tokens: 0, tag: 'search' }))).toEqual({
    dimensions: { provider: 'openai', ...names },
    counters: { requests: 1, 'ms.15': 1 },
  });
});
