import type { PriceableRequest } from '../../../lambda/domain/price/request-rates.ts';
import { readUsage } from '../../../lambda/domain/usage/normalize.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';

/** The reading of a complete chat response, with the test's own members. */
export const reading = (said: Partial<Reading> = {}): Reading => ({
  dialect: 'openai-chat',
  usage: null,
  usageSource: said.usage ? 'reported' : 'none',
  complete: true,
  modelRequested: null,
  modelServed: null,
  streamed: false,
  serviceTier: null,
  billableItems: {},
  ...said,
});

export const request = (
  said: Partial<Omit<PriceableRequest, 'reading'>> & { reading?: Partial<Reading> } = {},
): PriceableRequest => ({
  provider: 'openai',
  method: 'POST',
  path: '/v1/chat/completions',
  status: 200,
  startedAt: '2026-10-15T12:00:00.000Z',
  ...said,
  reading: reading(said.reading),
});

/** The usage of a reading in its normal form, whatever of it could be read. */
export const normalizeUsage = (...args: Parameters<typeof readUsage>) => readUsage(...args)?.usage ?? null;
