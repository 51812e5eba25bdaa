import { describe, expect, it } from '@jest/globals';
import { parseRequestItem, requestItem } from '../../lambda/data/request-item.ts';
import { recordOfClose, recordOfOpen } from '../../lambda/usage-recorder/build-record.ts';
import { closeEvent, openEvent, priceOfTokens } from '../usage-recorder/events.ts';

const context = { revision: 1, foldLevel: 0, recordedAt: '2026-11-20T10:00:00.000Z', expiresAt: 1_800_000_000 };
const known = <T extends { readonly accountId: string | null }>(event: T) => ({ ...event, accountId: 'svc_a' });

describe('the item of a request record', () => {
  it.each([
    ['as usual', {}],
    ['without a body', { requestBytes: 0, responseBytes: 0 }],
    ['of no time', { ttfbMs: 0, totalMs: 0 }],
    ['that reached nobody', { status: null, ttfbMs: null, responseBytes: 0, outcome: 'unreachable' } as const],
  ])('brings a request %s back as it was: zero is not unknown', (_, facts) => {
    const event = closeEvent({ accountId: 'svc_a', ...facts });
    const record = recordOfClose(known(event), priceOfTokens(event), null, context);
    expect(parseRequestItem(requestItem(record))).toEqual(record);
  });

  it('brings one whose end nobody saw back without measures', () => {
    const record = recordOfOpen(known(openEvent({ accountId: 'svc_a' })), context);
    expect(parseRequestItem(requestItem(record))).toEqual(record);
    expect(record.requestBytes).toBeNull();
  });
});
