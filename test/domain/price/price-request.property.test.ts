import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { countedOnceBy } from '../../../lambda/domain/price/charged-once.ts';
import { providerLabels } from '../../../lambda/domain/providers.ts';
import { BILLABLE } from '../../../lambda/domain/usage/billable-items.ts';
import { dialects } from '../../../lambda/domain/usage/dialect.ts';
import { provenances } from '../../../lambda/domain/usage/usage.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { request } from '../usage/metered-usage.ts';

const names = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'openai/gpt-4o', 'dall-e-3', 'tts-1', 'sonar'];
const models = fc.constantFrom(...names, '', '\u0000', 'ft:x');
const times = ['2025-01-01T00:00:00.000Z', '2026-11-20T01:00:00.000Z', '1970-01-01T00:00:00.000Z', 'no time at all'];
const counts = fc.record({ prompt_tokens: fc.integer(), completion_tokens: fc.double(), cost: fc.double() });
const items = fc.constantFrom(...Object.values(BILLABLE));

const requests = fc.record({
  provider: fc.constantFrom(...providerLabels),
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  status: fc.constantFrom(200, 404, 500, null),
  startedAt: fc.constantFrom(...times),
  reading: fc.record({
    dialect: fc.constantFrom(...dialects),
    usage: fc.option(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), counts)),
    usageSource: fc.constantFrom('reported' as const, 'estimated' as const, 'none' as const),
    complete: fc.boolean(),
    modelRequested: fc.option(models),
    modelServed: fc.option(models),
    serviceTier: fc.option(fc.constantFrom('priority', 'flex', 'batch', 'default', '???')),
    billableItems: fc.dictionary(items, fc.oneof(fc.double(), fc.nat(99), fc.string())),
  }),
});

describe('priceRequest', () => {
  it('never throws, and its cost is a whole number unless it is unknown', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const { costNanoUsd, provenance, lines, priceSource, reason } = priceRequest(request(asked));
        expect(provenances).toContain(provenance);
        expect(costNanoUsd === null).toBe(provenance === 'unknown');
        if (costNanoUsd !== null) {
          expect(Number.isSafeInteger(costNanoUsd)).toBe(true);
          expect(costNanoUsd).toBeGreaterThanOrEqual(0);
        }
        expect(reason !== null).toBe(provenance === 'unknown' || provenance === 'estimated');
        expect(priceSource !== null).toBe(provenance === 'computed' || provenance === 'estimated');
        const sum = lines.reduce((total, { quantity, rateNanoUsdPerUnit }) => total + quantity * rateNanoUsdPerUnit, 0);
        if (lines.length > 0 && (costNanoUsd ?? 0) < 1e12)
          expect(Math.abs(sum - (costNanoUsd ?? 0))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('countedOnceBy', () => {
  const usage = { input_tokens: 1 };
  const get = (path: string, reading: Partial<Reading>) => countedOnceBy(request({ method: 'GET', path, reading }));

  it('is the id of a response that can be fetched again, for POST and GET', () => {
    const reading = { dialect: 'openai-responses', usage, billableItems: { [BILLABLE.responseId]: 'resp_1' } } as const;
    expect(countedOnceBy(request({ method: 'GET', reading }))).toBe('resp_1');
    expect(countedOnceBy(request({ method: 'POST', reading }))).toBe('resp_1');
    expect(countedOnceBy(request({ reading: { usage } }))).toBeNull();
  });

  it('is the path of batch results and of asynchronous responses', () => {
    for (const [path, dialect] of [
      ['/v1/files/f/content', 'openai-batch-output'],
      ['/v1/messages/batches/b/results', 'anthropic-batch-output'],
      ['/v1beta/batches/b', 'inline-batch-output'],
      ['/async/chat/completions/a', 'async-result'],
    ] as const)
      expect([get(path, { dialect, usage }), get(`${path}/`, { dialect, usage })]).toEqual([path, path]);
  });

  it('is the path of the file that also has the results, where a batch names it', () => {
    const reading = { dialect: 'inline-batch-output', usage, billableItems: { [BILLABLE.batchFile]: 'f' } } as const;
    expect(get('/v1/batch/jobs/b', reading)).toBe(
      get('/v1/files/f/content', { dialect: 'openai-batch-output', usage }),
    );
  });

  it('differs between the pages of one path', () => {
    const page = (prompt_tokens: number) =>
      get('/v1/batches/b/results', { dialect: 'inline-batch-output', usage: { prompt_tokens } });
    expect(page(1)).toBe(page(1));
    expect(page(1)).not.toBe(page(2));
  });
});
