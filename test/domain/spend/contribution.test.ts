import { expect, it } from '@jest/globals';
import { contributionOf } from '../../../lambda/domain/spend/contribution.ts';
import type { AccountCloseEvent } from '../../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose } from '../../../lambda/usage-recorder/build-record.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';

it('a record contributes only counters that are not zero', () => {
  const event = closeEvent({ tokens: 0, tag: 'search' }) as AccountCloseEvent;
  const context = { revision: 1, overflowLevel: 0, recordedAt: event.startedAt, expiresAt: 0 };
  expect(contributionOf(recordOfClose(event, priceOfTokens(event), null, context))).toEqual({
    dimensions: {
      provider: 'openai',
      model: 'gpt-4o-2024-08-06',
      tag: 'search',
      keyId: 'key-1',
      providerKey: 'fingerprint',
    },
    counters: { requests: 1, 'ms.15': 1 },
  });
});
