import { describe, expect, it } from '@jest/globals';
import { findProvider } from '@pydantic/genai-prices';
import { bundledBook as findPrice } from '../../../fixtures/bundled-prices.ts';
import { attoUsdPerUnit } from '../../../lambda/domain/money.ts';
import { bundledLists } from '../../../lambda/domain/price/bundled-lists.ts';
import { genaiProviderId } from '../../../lambda/domain/price/genai-prices.ts';
import { providerOverrides } from '../../../lambda/domain/price/price-book.ts';

const usdPerMtok = (provider: string, model: string, at: string) => {
  const {
    input = 0n,
    cacheRead = 0n,
    output = 0n,
  } = findPrice({ provider, model, at: new Date(at), inputTokens: 1000 })?.rates ?? {};
  return [input, cacheRead, output].map((rate) => Number(rate) / 1e12);
};

describe('overrides and book choices', () => {
  const all = Object.values(providerOverrides).flatMap(({ overrides = [], bookChoices = [] }) => [
    ...overrides,
    ...bookChoices,
  ]);

  it('each say where they come from, as of when, and why', () => {
    for (const { source, asOf, why, models } of all) {
      expect(source.length).toBeGreaterThan(0);
      expect(why.length).toBeGreaterThan(0);
      expect(asOf).toMatch(/^20\d\d-\d\d-\d\d$/);
      for (const model of models) expect(model).toBe(model.toLowerCase());
    }
  });
});

describe("DeepSeek's schedule", () => {
  it('holds for reasoning too, where the second list has a rate for it', () => {
    const { output, reasoning } =
      findPrice({
        ...{ provider: 'deepseek', model: 'deepseek-v4-flash-vision-exp', inputTokens: 1_000 },
        at: new Date('2026-11-23T02:00:00Z'),
      })?.rates ?? {};
    expect([output, reasoning]).toEqual([attoUsdPerUnit(1.2, 1e6), undefined]);
  });

  it.each([
    [
      'flat before peak pricing, in what is now a peak hour',
      'deepseek-v4-flash',
      '2026-08-12T02:00:00Z',
      [0.14, 0.0028, 0.28],
    ],
    ['off-peak', 'deepseek-v4-pro', '2026-08-18T12:00:00Z', [0.66, 0.022, 1.98]],
    ['peak', 'deepseek-v4-pro', '2026-08-18T02:00:00Z', [1.32, 0.044, 3.96]],
    ['right before the morning peak', 'deepseek-v4-pro', '2026-08-18T00:59:59Z', [0.66, 0.022, 1.98]],
    ['the first second of the morning peak', 'deepseek-v4-pro', '2026-08-18T01:00:00Z', [1.32, 0.044, 3.96]],
    ['the last second of the morning peak', 'deepseek-v4-pro', '2026-08-18T03:59:59Z', [1.32, 0.044, 3.96]],
    ['noon in Beijing', 'deepseek-v4-pro', '2026-08-18T04:00:00Z', [0.66, 0.022, 1.98]],
    ['right before the afternoon peak', 'deepseek-v4-pro', '2026-08-18T05:59:59Z', [0.66, 0.022, 1.98]],
    ['the first second of the afternoon peak', 'deepseek-v4-pro', '2026-08-18T06:00:00Z', [1.32, 0.044, 3.96]],
    ['the last second of the afternoon peak', 'deepseek-v4-pro', '2026-08-18T09:59:59Z', [1.32, 0.044, 3.96]],
    ['right after the afternoon peak', 'deepseek-v4-pro', '2026-08-18T10:00:00Z', [0.66, 0.022, 1.98]],
    [
      'a Saturday of the first week, still at peak price',
      'deepseek-v4-flash',
      '2026-08-22T02:00:00Z',
      [0.44, 0.014, 1.32],
    ],
    ['a Saturday since', 'deepseek-v4-flash', '2026-08-29T02:00:00Z', [0.22, 0.007, 0.66]],
    ['a Sunday since', 'deepseek-v4-flash', '2026-08-30T02:00:00Z', [0.22, 0.007, 0.66]],
    ['the first Monday without a peak on weekends', 'deepseek-v4-flash', '2026-08-24T02:00:00Z', [0.44, 0.014, 1.32]],
    ['the day before the national holiday', 'deepseek-flash', '2026-09-30T02:00:00Z', [0.3, 0.006, 1.2]],
    ['the national holiday', 'deepseek-flash', '2026-10-01T02:00:00Z', [0.15, 0.003, 0.6]],
    ['the last day of the national holiday', 'deepseek-flash', '2026-10-07T09:00:00Z', [0.15, 0.003, 0.6]],
    ['the day after it', 'deepseek-flash', '2026-10-08T02:00:00Z', [0.3, 0.006, 1.2]],
    ['V4.1 under its retired name', 'deepseek-v4-flash', '2026-11-18T07:00:00Z', [0.3, 0.006, 1.2]],
    ['V3 right before the night discount', 'deepseek-chat', '2025-06-01T16:29:59Z', [0.27, 0.07, 1.1]],
    ['V3 at the start of the night discount', 'deepseek-chat', '2025-06-01T16:30:00Z', [0.135, 0.035, 0.55]],
    ['V3.1', 'deepseek-reasoner', '2025-09-10T20:00:00Z', [0.56, 0.07, 1.68]],
    ['V3.2', 'deepseek-reasoner', '2026-01-10T02:00:00Z', [0.28, 0.028, 0.42]],
    ['V4 Flash under a retired name', 'deepseek-chat', '2026-06-01T02:00:00Z', [0.14, 0.0028, 0.28]],
  ])('%s', (_, model, at, rates) => {
    expect(usdPerMtok('deepseek', model, at)).toEqual(rates);
  });
});

describe('aliases that moved on', () => {
  it('have the price of the model they stood for then', () => {
    expect(usdPerMtok('mistral', 'mistral-large-latest', '2025-11-01T00:00:00Z')).toEqual([2, 0.2, 6]);
    expect(usdPerMtok('mistral', 'mistral-large-latest', '2026-01-01T00:00:00Z')).toEqual([0.5, 0.05, 1.5]);
    expect(usdPerMtok('mistral', 'mistral-large-latest', '2026-11-20T00:00:00Z')).toEqual([0.7, 0.07, 2.1]);
    expect(usdPerMtok('fireworks', 'accounts/fireworks/routers/kimi-latest', '2026-11-19T00:00:00Z')[0]).toBe(3);
    expect(usdPerMtok('fireworks', 'accounts/fireworks/routers/kimi-latest', '2026-11-20T00:00:00Z')[0]).toBe(2);
  });
});

describe("Google's introductory prices", () => {
  it.each([
    ['gemini-4-argon', '2026-12-01T00:00:00Z', [2, 0.1, 10]],
    ['gemini-4-carbon', '2026-12-01T00:00:00Z', [2, 0.1, 10]],
    ['gemini-3.8-flash-tts', '2027-01-01T00:00:00Z', [0.5, 0.075, 9]],
    ['gemini-3.8-flash-lite-tts', '2027-01-01T00:00:00Z', [0.5, 0.075, 6]],
    ['gemini-3.8-flash', '2027-01-01T00:00:00Z', [0.75, 0.075, 3.75]],
    ['gemini-flash-latest', '2027-01-01T00:00:00Z', [0.75, 0.075, 3.75]],
  ])('of %s double at %s', (model, end, rates) => {
    expect(usdPerMtok('google', model, new Date(Date.parse(end) - 1_000).toISOString())).toEqual(rates);
    expect(usdPerMtok('google', model, end)).toEqual(rates.map((usd) => 2 * usd));
  });
});

describe('models that neither book has, or has wrong', () => {
  it.each([
    ['openai', 'gpt-5-search-api-2025-10-14', [1.25, 0.125, 10]],
    ['mistral', 'mistral-embed-2312', [0.1, 0, 0]],
    ['mistral', 'open-mistral-nemo-2407', [0.15, 0.015, 0.15]],
    ['mistral', 'mistral-small-2503', [0.1, 0.01, 0.3]],
    ['mistral', 'ministral-3b-2410', [0.04, 0.004, 0.04]],
    ['mistral', 'zai-glm-5-3', [1.4, 0.14, 4.4]],
    ['mistral', 'zai-glm-5-2', [1.4, 0.14, 4.4]],
    ['mistral', 'zai-glm-5-3-flash', [0.15, 0.03, 0.5]],
    ['mistral', 'codestral-latest', [0.3, 0.03, 0.9]],
    ['mistral', 'magistral-medium-latest', [2, 0.2, 5]],
    ['mistral', 'mistral-medium-2604', [1.5, 0.15, 7.5]],
    ['mistral', 'mistral-small-2506', [0.1, 0.01, 0.3]],
    ['mistral', 'pixtral-12b', [0.15, 0.015, 0.15]],
    ['openai', 'gpt-6.1-terra', [1, 0.05, 5]],
    ['openai', 'gpt-6.2-astra', [8, 0.4, 40]],
    ['openai', 'gpt-6.2-sol', [2, 0.1, 10]],
    ['openai', 'gpt-5.6-cyber', [12.5, 1.25, 75]],
    ['openai', 'gpt-daybreak-blue-latest', [4, 0.4, 20]],
    ['openai', 'chat-latest', [5, 0.5, 30]],
    ['openai', 'gpt-image-2.5-flare-2026-09-08', [5, 1.25, 30]],
    ['openai', 'gpt-image-2.6-sunburst', [5, 1.25, 30]],
    ['google', 'gemini-pro-latest', [2, 0.2, 12]],
    ['google', 'gemini-robotics-er-2-preview', [1, 0.1, 5]],
    ['google', 'gemini-4-hydrogen', [1.5, 0.075, 7.5]],
    ['vertex', 'gemini-4-neon', [3, 0.15, 15]],
    ['vertex', 'claude-sonnet-5-5', [2, 0.1, 10]],
    ['azure', 'gpt-6.2-astra', [8, 0.4, 40]],
    ['azure', 'deepseek-r1', [1.35, 0, 5.4]],
    ['azure', 'deepseek-r1-0528', [1.35, 1.35, 5.4]],
    ['azure', 'deepseek-v4-pro', [1.74, 0, 3.48]],
    ['azure', 'phi-4', [0.125, 0, 0.5]],
    ['anthropic', 'claude-mythos-5-2', [8, 0.2, 40]],
    ['bedrock', 'global.anthropic.claude-fable-5-2', [8, 0.2, 40]],
    ['bedrock', 'us.anthropic.claude-sonnet-5-5', [2.2, 0.11, 11]],
    ['bedrock', 'openai.gpt-6.2-sol', [2.2, 0.11, 11]],
    ['mistral', 'mistral-large-4-0-8', [0.7, 0.07, 2.1]],
    ['together', 'qwen/qwen3.7-max', [2.5, 0.5, 7.5]],
    ['fireworks', 'accounts/fireworks/models/deepseek-v4p1-flash', [0.3, 0.006, 1.2]],
    ['google', 'gemini-embedding-2-preview', [0.2, 0, 0]],
    ['openrouter', 'moonshotai/kimi-k3.1-pro', [2, 0.2, 10]],
    ['openrouter', 'minimax/minimax-m3.1-flash', [0.15, 0.015, 0.6]],
  ])('%s %s', (provider, model, rates) => {
    expect(usdPerMtok(provider, model, '2026-11-20T12:00:00Z')).toEqual(rates);
  });
});

describe("Cohere's rerankers", () => {
  const rates = (model: string) =>
    findPrice({ provider: 'cohere', model, at: new Date('2026-11-20T12:00:00Z'), inputTokens: 0 })?.rates;

  it('are charged by the search up to the fourth, by the token since, and a later one is not known', () => {
    expect(rates('rerank-v3.5')).toEqual({ searchUnits: attoUsdPerUnit(0.002) });
    expect(rates('rerank-v4.0-pro')).toEqual({ searchUnits: attoUsdPerUnit(0.0025) });
    expect(rates('rerank-v5.0-fast')).toEqual({ input: attoUsdPerUnit(0.02, 1e6) });
    expect(rates('rerank-v6.0')).toBeUndefined();
  });
});

describe('images and videos that a live model of Gemini 2.5 sees', () => {
  it.each(['gemini-live-2.5-flash-preview', 'gemini-2.5-flash-native-audio-preview-12-2025'])('%s', (model) => {
    const { input, ...rates } =
      findPrice({ provider: 'google', model, at: new Date('2026-11-20T12:00:00Z'), inputTokens: 0 })?.rates ?? {};
    const asAudio = attoUsdPerUnit(3, 1e6);
    expect(input).toBe(attoUsdPerUnit(0.5, 1e6));
    expect(rates).toMatchObject({ inputAudio: asAudio, inputImage: asAudio, inputVideo: asAudio });
  });
});

describe('models that cost more for long prompts', () => {
  it.each([
    ['anthropic', 'claude-haiku-5-5', 100_000, 0.1, 0.5],
    ['openai', 'gpt-6.1-sol', 272_000, 2, 4],
    ['openai', 'gpt-6.1-terra', 272_000, 1, 2],
    ['openai', 'gpt-6.2-astra', 272_000, 8, 16],
    ['openai', 'gpt-6.2-sol', 272_000, 2, 4],
    ['bedrock', 'global.openai.gpt-6.2-sol', 272_000, 2, 4],
    ['azure', 'gpt-6.1-terra', 272_000, 1, 2],
    ['vertex', 'claude-haiku-5-5', 100_000, 0.1, 0.5],
    ['vertex', 'claude-opus-4-8@default', 200_000, 5, 5],
    ['google', 'gemini-pro-latest', 200_000, 2, 4],
    // The prompts of an agent's many steps are one sum.
    ['google', 'deep-research-preview-04-2026', 200_000, 2, 2],
    ['google', 'deep-research-pro-preview-12-2025', 200_000, 2, 2],
  ])('%s %s', (provider, model, limit, short, long) => {
    const input = (inputTokens: number) =>
      findPrice({ provider, model, at: new Date('2026-11-20T12:00:00Z'), inputTokens })?.rates.input;
    expect(input(limit)).toBe(attoUsdPerUnit(short, 1e6));
    expect(input(limit + 1)).toBe(attoUsdPerUnit(long, 1e6));
  });
});

describe('prices of everything in the books', () => {
  const models = Object.entries(providerOverrides).flatMap(([provider, { overrides = [] }]) =>
    [
      ...Object.keys(bundledLists.secondPrices.prices[provider] ?? {}),
      ...(findProvider({ providerId: genaiProviderId(provider) })?.models ?? []).map(({ id }) => id),
      ...overrides.flatMap((override) => override.models.map((model) => model.replace(/\*$/, 'x'))),
    ].map((model) => [provider, model] as const),
  );

  it('are of a sane size, at every length of prompt', () => {
    const strange: unknown[] = [];
    for (const [provider, model] of models)
      for (const inputTokens of [1000, 150_000, 300_000, 600_000]) {
        const rates = findPrice({ provider, model, at: new Date('2026-11-20T12:00:00Z'), inputTokens })?.rates ?? {};
        const { input = 0n, output = 0n, cacheRead = 0n, cacheWrite1h, cacheWrite = 0n } = rates;
        const isSane =
          Object.values(rates).every((rate) => rate >= 0n) &&
          cacheRead <= input &&
          (cacheWrite1h === undefined || cacheWrite1h >= cacheWrite) &&
          // 1,000 USD for a million tokens.
          input <= 10n ** 15n &&
          output <= 10n ** 15n;
        if (!isSane) strange.push([provider, model, inputTokens, rates]);
      }
    expect(models.length).toBeGreaterThan(1000);
    expect(strange).toEqual([]);
  });
});

describe('models that books take for others', () => {
  const usd = (provider: string, model: string) => {
    const rates = findPrice({ provider, model, at: new Date('2026-11-20T12:00:00Z'), inputTokens: 100 })?.rates;
    return [rates?.input, rates?.output].map((rate) => (rate === undefined ? null : Number(rate) / 1e12));
  };

  it.each([
    ['google', 'gemini-1.5-flash-8b-001', [0.0375, 0.15]],
    ['openai', 'ft:gpt-4.1-mini-2025-04-14:org::id', [0.8, 3.2]],
    ['openai', 'ft:gpt-4.5:org::id', [null, null]],
    ['openrouter', 'somebody/new-model:free', [0, 0]],
    ['openrouter', 'somebody/new-model', [null, null]],
    ['fireworks', 'accounts/fireworks/models/llama-v3p3-70b-instruct', [0.9, 0.9]],
    ['fireworks', 'accounts/mine/models/llama-v3p3-70b-instruct', [null, null]],
  ] as const)('%s %s', (provider, model, expected) => {
    expect(usd(provider, model)).toEqual(expected);
  });
});

describe('entries known to be doubtful', () => {
  it.each([
    ['groq', 'openai/gpt-oss-safeguard-20b', [0.075, 0.0375, 0.3]],
    ['xai', 'grok-4.5', [2, 0.3, 6]],
    ['fireworks', 'accounts/fireworks/models/gemma-3-27b-it', [0.9, 0.45, 0.9]],
    ['xai', 'grok-4.6', [2, 0.5, 6]],
    ['anthropic', 'claude-fable-5-2', [8, 0.2, 40]],
  ])('%s %s', (provider, model, rates) => {
    expect(usdPerMtok(provider, model, '2026-11-20T12:00:00Z')).toEqual(rates);
  });
});
