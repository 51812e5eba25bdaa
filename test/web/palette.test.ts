import { describe, expect, it } from '@jest/globals';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { groupColors } from '../../web/src/spend/groups.ts';
import { colorsOf } from '../../web/src/spend/palette.ts';

type Triple = readonly [number, number, number];

/** How colours look with each kind of colour blindness, in linear RGB. @see Machado, Oliveira and Fernandes 2009, severity 1.0 */
const visions: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  'full colour vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red cones (protanopia)': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no green cones (deuteranopia)': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'no blue cones (tritanopia)': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const times = (matrix: readonly [Triple, Triple, Triple], [x, y, z]: Triple): Triple =>
  matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Triple;
const each = (color: Triple, change: (part: number) => number): Triple => color.map(change) as unknown as Triple;

/** Linear RGB of a colour in OKLCH, as far as a screen has it. @see https://bottosson.github.io/posts/oklab/ */
const linear = (color: string): Triple => {
  const [lightness = 0, chroma = 0, hue = 0] = color.match(/[\d.]+/g)?.map(Number) ?? [];
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const cones = times(
    [
      [1, 0.3963377774, 0.2158037573],
      [1, -0.1055613458, -0.0638541728],
      [1, -0.0894841775, -1.291485548],
    ],
    [lightness, a, b],
  );
  return times(
    [
      [4.0767416621, -3.3077115913, 0.2309699292],
      [-1.2684380046, 2.6097574011, -0.3413193965],
      [-0.0041960863, -0.7034186147, 1.707614701],
    ],
    each(cones, (part) => part ** 3),
  );
};

/** Oklab, in which distances match the differences that people see. @see https://bottosson.github.io/posts/oklab/ */
const oklab = (color: Triple): Triple => {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    each(color, (part) => Math.min(1, Math.max(0, part))),
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    each(cones, Math.cbrt),
  );
};

/** The colours of a chart of so many names of one provider, or of all. */
const named = (count: number, of?: string) =>
  [...colorsOf(Array.from({ length: count }, (_, index) => ({ name: `name ${index}`, of }))).values()].map(
    (color) => /^light-dark\((.+), (.+)\)$/.exec(color)?.slice(1) as [string, string],
  );
const PROVIDERS = ['openai', 'anthropic', 'google', 'mistral', 'cohere', 'groq'];
const MORE = ['together', 'fireworks', 'deepseek', 'xai', 'perplexity', 'openrouter'];
const SHADES = 5;

/** The smallest distance of two colours, in hundredths of Oklab's scale. People just notice 2. */
const closest = (colors: readonly string[], vision: readonly [Triple, Triple, Triple]): number => {
  const seen = colors.map((color) => oklab(times(vision, linear(color))));
  const pairs = seen.flatMap((one, index) => seen.slice(index + 1).map((other) => [one, other] as const));
  return Math.min(...pairs.map(([one, other]) => 100 * Math.hypot(...one.map((part, at) => part - (other[at] ?? 0)))));
};
/** The contrast with a card. @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
const contrast = (color: string, card: number): number => {
  const [red, green, blue] = each(linear(color), (part) => Math.min(1, Math.max(0, part)));
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (Math.max(luminance, card) + 0.05) / (Math.min(luminance, card) + 0.05);
};

describe.each([
  ['light', 0, 1],
  ['dark', 1, 0.0115],
])('the colours of names in the %s scheme', (_, scheme, card) => {
  const all = [...PROVIDERS, ...MORE].flatMap((of) => named(SHADES, of).map((colors) => colors[scheme] as string));

  it('differ, and none is pale', () => {
    expect(new Set(all).size).toBe(60);
    expect(closest(all, visions['full colour vision'] as never)).toBeGreaterThan(5);
    expect(Math.min(...all.map((color) => contrast(color, card)))).toBeGreaterThan(2);
  });

  it.each(Object.entries(visions))('differ by shade with %s', (__, vision) => {
    for (const of of [...PROVIDERS, ...MORE])
      expect(
        closest(
          named(SHADES, of).map((colors) => colors[scheme] as string),
          vision,
        ),
      ).toBeGreaterThan(6);
  });
});

const MODELS = [
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-4.1',
  'gpt-4.1-mini',
  'claude-opus-4-1',
  'claude-sonnet-4-5',
  'gemini-2.5-pro',
];
const colorsByModel = (models: readonly string[]) =>
  groupColors(
    models.map((model) => ({ model })),
    ['model'],
  );
const hueOf = (color: string | undefined) => / (\d+)\)\)$/.exec(color ?? '')?.[1];

describe('the colour of a name', () => {
  it('stays the same whatever else is on the chart, in any order', () => {
    const whole = colorsByModel(MODELS);
    for (const model of MODELS)
      expect([...colorsByModel([model])]).toEqual([[`["${model}"]`, whole.get(`["${model}"]`)]]);
    expect([...colorsByModel(MODELS.toReversed())].sort()).toEqual([...whole].sort());
    expect(new Set(whole.values()).size).toBe(MODELS.length);
  });

  it('is the next shade where another name prefers the same', () => {
    const names = Array.from({ length: SHADES + 1 }, (_, index) => ({ name: `name ${index}`, of: 'openai' }));
    const alone = names.map((each) => [each.name, colorsOf([each]).get(each.name)] as const);
    const [first, second] =
      [...Map.groupBy(alone, ([, color]) => color).values()].find(({ length }) => length > 1) ?? [];
    const both = [first, second].map((each) => ({ name: each?.[0] ?? '', of: 'openai' }));
    for (const order of [both, both.toReversed()]) {
      const colors = colorsOf(order);
      expect(colors.get(both[0]?.name ?? '')).toBe(first?.[1]);
      expect(colors.get(both[1]?.name ?? '')).not.toBe(first?.[1]);
      expect(hueOf(colors.get(both[1]?.name ?? ''))).toBe(hueOf(first?.[1]));
    }
  });

  it('has the hue of its provider, also behind a maker’s name', () => {
    const hues = (models: readonly string[]) => new Set([...colorsByModel(models).values()].map(hueOf));
    const [anthropic] = [...groupColors([{ provider: 'anthropic' }], ['provider']).values()].map(hueOf);
    expect(hues(['claude-opus-4-1', 'claude-haiku-4-5', 'anthropic/claude-sonnet-4.5'])).toEqual(new Set([anthropic]));
    expect(hues(MODELS).size).toBe(3);
  });

  it('is neutral without a name', () => {
    const colors = groupColors([{ tag: null }, { tag: OTHER }, { tag: 'search' }], ['tag']);
    const chromas = [...colors].map(([name, color]) => [name, Number(color.match(/[\d.]+/g)?.[1])]);
    expect(Object.fromEntries(chromas)).toEqual({ '[""]': 0.01, '["(other)"]': 0.01, '["search"]': 0.12 });
  });
});
