import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SERIES_SHOWN } from '../../web/src/spend/groups.ts';

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

const linear = (hex: string): Triple =>
  each([1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Triple, (part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );

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

/** In hundredths of Oklab's scale. People just notice 2; the chart's patches are small and not adjacent. */
const MIN_DISTANCE = 7.5;

const sheet = readFileSync(join(import.meta.dirname, '../../web/public/first-paint.css'), 'utf8');
const palettes = Object.fromEntries(
  ['light', 'dark'].map((scheme) => {
    const rules = sheet.split(`:root[data-mantine-color-scheme="${scheme}"] {`)[1]?.split('\n}')[0] ?? '';
    return [scheme, [...rules.matchAll(/--series-\w+: (#[0-9a-f]{6});/g)].map(([, hex]) => hex as string)] as const;
  }),
);

describe.each(Object.entries(palettes))('the series colours of the %s scheme', (_, colors) => {
  it('has one colour per series and one for the rest', () => {
    expect(colors).toHaveLength(SERIES_SHOWN + 1);
  });

  it.each(Object.entries(visions))('are distinguishable with %s', (__, vision) => {
    const seen = colors.map((color) => oklab(times(vision, linear(color))));
    const pairs = seen.flatMap((one, index) => seen.slice(index + 1).map((other) => [one, other] as const));
    const distances = pairs.map(([one, other]) => 100 * Math.hypot(...one.map((part, at) => part - (other[at] ?? 0))));
    expect(Math.min(...distances)).toBeGreaterThan(MIN_DISTANCE);
  });
});
