import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { matchesModel } from './overrides.ts';

/*
 * USD for one image, by quality and size. Models sold by the token (gpt-image) report usage; their prices for an image are the
 * provider's own estimates, for responses without usage.
 * https://developers.openai.com/api/docs/pricing#image-generation (as of 2026-02-07; the qualities that `auto` means are not given)
 */

interface ImagePrices {
  readonly models: readonly string[];
  readonly defaultQuality: string;
  readonly byQuality: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly isEstimate?: true;
}

const square = (small: number, large: number) => ({
  '1024x1024': small,
  '1024x1536': large,
  '1536x1024': large,
});

type Sizes = Parameters<typeof square>;

/** A model sold by the token: a square and a long image of each quality. */
const gptImage = (models: readonly string[], low: Sizes, medium: Sizes, high: Sizes): ImagePrices => ({
  models,
  defaultQuality: 'high',
  byQuality: { low: square(...low), medium: square(...medium), high: square(...high) },
  isEstimate: true,
});

const table: readonly ImagePrices[] = [
  {
    models: ['dall-e-3'],
    defaultQuality: 'standard',
    byQuality: {
      standard: { '1024x1024': 0.04, '1024x1792': 0.08, '1792x1024': 0.08 },
      hd: { '1024x1024': 0.08, '1024x1792': 0.12, '1792x1024': 0.12 },
    },
  },
  {
    models: ['dall-e-2'],
    defaultQuality: 'standard',
    byQuality: { standard: { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02 } },
  },
  gptImage(['gpt-image-1'], [0.011, 0.016], [0.042, 0.063], [0.167, 0.25]),
  gptImage(['gpt-image-1-mini'], [0.005, 0.006], [0.011, 0.015], [0.036, 0.052]),
  gptImage(['gpt-image-1.5', 'chatgpt-image-latest'], [0.009, 0.013], [0.034, 0.05], [0.133, 0.2]),
];

export interface ImageRate {
  readonly rate: AttoUsd;
  readonly isEstimate: boolean;
}

/** `auto` and a missing value mean the default. A quality or size that is not in the table has no known price. */
const orDefault = (value: unknown, byDefault: string): string =>
  typeof value === 'string' && value !== '' && value !== 'auto' ? value : byDefault;

/** The name comes from a client, and may be that of a member of every object, such as `constructor`. */
const entry = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

export const imageRate = (model: string, quality: unknown, size: unknown): ImageRate | null => {
  const row = table.find(({ models }) => matchesModel(models, model));
  const bySize = row && entry(row.byQuality, orDefault(quality, row.defaultQuality));
  const usd = bySize && entry(bySize, orDefault(size, '1024x1024'));
  return row && usd !== undefined ? { rate: attoUsdPerUnit(usd), isEstimate: row.isEstimate === true } : null;
};

/** The most that an image may cost, in USD: of all sizes and qualities that the request leaves open. Null where it is unknown. */
export const dearestImageUsd = (model: string, quality: unknown, size: unknown): number | null => {
  const row = table.find(({ models }) => matchesModel(models, model));
  if (!row) return null;
  const chosen = <T>(of: Readonly<Record<string, T>>, name: unknown): readonly T[] => {
    const found = typeof name === 'string' ? entry(of, name) : undefined;
    return found === undefined ? Object.values(of) : [found];
  };
  return Math.max(...chosen(row.byQuality, quality).flatMap((bySize) => chosen(bySize, size)));
};
