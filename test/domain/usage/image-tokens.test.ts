import { describe, expect, it } from '@jest/globals';
import { imageTokens } from '../../../lambda/domain/usage/image-tokens.ts';

const image = (width: number | null, height: number | null, detail: string | null = null) => ({
  width,
  height,
  detail,
});

describe('the tokens of an image', () => {
  // Examples of the providers' pages, and images of recorded requests (60×30, 166×282, 1×1, 8×8).
  it.each<[string, number, number, number]>([
    ['gpt-4o', 1024, 1024, 765],
    ['gpt-4o', 2048, 4096, 1105],
    ['gpt-4o-2024-08-06', 128, 64, 255],
    ['gpt-4.1', 1800, 2400, 765],
    ['openai/gpt-4o-mini', 60, 30, 8500],
    ['gpt-5', 1024, 1024, 630],
    ['gpt-5.1', 1024, 1024, 630],
    ['o3', 1024, 1024, 675],
    ['gpt-4.1-mini', 166, 282, 87.48],
    ['gpt-4.1-nano', 128, 64, 19.68],
    ['gpt-4.1-mini', 4000, 1474, 2488.32],
    ['gpt-5-mini', 1280, 720, 1104],
    ['gpt-5.4', 1024, 1024, 1228.8],
    ['claude-haiku-4-5', 1024, 1024, 1369],
    ['claude-haiku-4-5', 3840, 2160, 1568],
    ['claude-sonnet-5', 1920, 1080, 2691],
    ['anthropic/claude-opus-4.7', 4032, 3024, 4784],
    ['gemini-2.5-flash', 8, 8, 258],
    ['gemini-2.5-flash', 1024, 1024, 1032],
    ['gemini-3-pro', 8, 8, 1120],
    ['grok-4', 448, 448, 512],
    ['grok-4', 4000, 4000, 1792],
    ['mistral-small-latest', 280, 280, 110],
    ['pixtral-12b', 1024, 1024, 4160],
    ['command-a-vision-07-2025', 1, 1, 256],
    ['command-a-vision-07-2025', 1024, 1024, 1280],
  ])('of %s with %d×%d pixels are %d', (model, width, height, tokens) => {
    expect(imageTokens(model, image(width, height))).toBeCloseTo(tokens, 6);
  });

  it('are the base of a tiled model at low detail, whatever the size', () => {
    expect(imageTokens('gpt-4o', image(null, null, 'low'))).toBe(85);
    expect(imageTokens('command-a-vision-07-2025', image(null, null, 'low'))).toBe(256);
    expect(imageTokens('gpt-4.1-mini', image(null, null, 'low'))).toBeNull();
  });

  it('are not known for a model without a formula, nor without a size', () => {
    expect(imageTokens('llama-4-maverick', image(8, 8))).toBeNull();
    expect(imageTokens('', image(8, 8))).toBeNull();
    for (const model of [
      'gpt-4o',
      'claude-haiku-4-5',
      'gemini-2.5-flash',
      'grok-4',
      'mistral-small',
      'command-a-vision',
    ])
      for (const unknown of [image(null, null), image(0, 8), image(8, null)])
        expect([model, imageTokens(model, unknown)]).toEqual([model, null]);
  });
});
