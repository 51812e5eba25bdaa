import * as z from 'zod/mini';
import { modelOf, type RequestRecord } from '../spend/request-record.ts';

/** Effect of new prices on the costs of the requests of one model. */
export const costDifferenceSchema = z.object({
  provider: z.string(),
  model: z.nullable(z.string()),
  requests: z.int(),
  /** Requests whose cost was, or is, not known. */
  unknownBefore: z.int(),
  unknownAfter: z.int(),
  /** Sums of the known costs. */
  nanoUsdBefore: z.int(),
  nanoUsdAfter: z.int(),
});

export type CostDifference = z.infer<typeof costDifferenceSchema>;
type Difference = Omit<CostDifference, 'provider' | 'model'>;

export const sumOfDifferences = (differences: readonly Difference[]): Difference => {
  const sum = (name: keyof Difference): number => differences.reduce((total, each) => total + each[name], 0);
  return {
    requests: sum('requests'),
    unknownBefore: sum('unknownBefore'),
    unknownAfter: sum('unknownAfter'),
    nanoUsdBefore: sum('nanoUsdBefore'),
    nanoUsdAfter: sum('nanoUsdAfter'),
  };
};

/** Adds up the rows of each model, the largest difference first. */
export const byModel = (rows: readonly CostDifference[]): CostDifference[] =>
  [...Map.groupBy(rows, ({ provider, model }) => JSON.stringify([provider, model])).values()]
    .map((ofModel) => ({ ...(ofModel[0] as CostDifference), ...sumOfDifferences(ofModel) }))
    .sort((a, b) => sizeOf(b) - sizeOf(a));

const sizeOf = ({ nanoUsdBefore, nanoUsdAfter }: Difference): number => Math.abs(nanoUsdAfter - nanoUsdBefore);

interface Repriced {
  readonly before: RequestRecord | null | undefined;
  readonly after: RequestRecord;
}

const isUnknown = ({ provenance }: RequestRecord): number => Number(provenance === 'unknown');

const differenceOf = (before: RequestRecord, after: RequestRecord): CostDifference => ({
  provider: after.provider,
  model: modelOf(after),
  requests: 1,
  unknownBefore: isUnknown(before),
  unknownAfter: isUnknown(after),
  nanoUsdBefore: before.costNanoUsd ?? 0,
  nanoUsdAfter: after.costNanoUsd ?? 0,
});

/** The rows with the differences that repriced requests make. */
export const withDifferences = (rows: readonly CostDifference[], changes: readonly Repriced[]): CostDifference[] =>
  byModel([...rows, ...changes.flatMap(({ before, after }) => (before ? differenceOf(before, after) : []))]);
