import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { hidesReasoning } from '../../../lambda/domain/price/price-request.ts';
import { request } from './metered-usage.ts';

describe('models that hide their reasoning', () => {
  it.each([
    'o3',
    'o4-mini',
    'openai/o1',
    'gpt-5',
    'gpt-5.2-mini',
    'gpt-6.1-sol',
    'grok-5',
    'grok-code-fast-1',
    'codex-mini-latest',
    'gemini-flash-latest',
    'grok-4',
    'x-ai/grok-4-fast-reasoning',
    'gemini-2.5-pro',
    'gemini-3-pro-preview',
    'sonar-deep-research',
  ])('%s', (model) => {
    expect(hidesReasoning(model)).toBe(true);
  });

  it.each([
    'gpt-4o',
    'gpt-4.1',
    'gpt-5-chat-latest',
    'grok-3',
    'grok-4-fast-non-reasoning',
    'gemini-2.0-flash',
    'gemini-2.5-flash-lite',
    'claude-sonnet-4-5',
    'qwen-o3',
    'sonar-reasoning-pro',
  ])('not %s', (model) => {
    expect(hidesReasoning(model)).toBe(false);
  });

  it('make an estimate unknown, and only an estimate', () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    const price = (model: string, usageSource: 'reported' | 'estimated') =>
      priceRequest(
        request({
          startedAt: '2026-01-15T12:00:00.000Z',
          reading: { usage, usageSource, modelRequested: model, modelServed: model },
        }),
      );
    expect(price('o3', 'estimated')).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
    expect(price('o3', 'reported').provenance).toBe('computed');
    expect(price('gpt-4o', 'estimated')).toMatchObject({ provenance: 'estimated', costNanoUsd: 3_500_000 });
  });
});
