import { modelOf, type RequestRecord } from '../spend/request-record.ts';

/** Effect of new prices on the costs of some requests. */
interface Difference {
  readonly requests: number;
  /** Requests whose cost was, or is, not known. */
  readonly unknownBefore: number;
  readonly unknownAfter: number;
  /** Sums of the known costs. */
  readonly nanoUsdBefore: number;
  readonly nanoUsdAfter: number;
}

/** The effect on those of one model. */
export interface CostDifference extends Difference {
  readonly provider: string;
  readonly model: string | null;
}

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
