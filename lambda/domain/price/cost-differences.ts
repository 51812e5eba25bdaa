import { modelOf, type RequestRecord } from '../spend/request-record.ts';

/** Effect of new prices on the costs of one model. */
export interface CostDifference {
  readonly provider: string;
  readonly model: string | null;
  readonly requests: number;
  /** Requests whose cost was, or is, not known. */
  readonly unknownBefore: number;
  readonly unknownAfter: number;
  /** Sums of the known costs. */
  readonly nanoUsdBefore: number;
  readonly nanoUsdAfter: number;
}

interface Repriced {
  readonly before: RequestRecord | null | undefined;
  readonly after: RequestRecord;
}

const isUnknown = ({ provenance }: RequestRecord): number => Number(provenance === 'unknown');

/** Sums differences by provider and model. */
export const costDifferences = () => {
  const rows = new Map<string, CostDifference>();
  return {
    add: (changes: readonly Repriced[]): void => {
      for (const { before, after } of changes) {
        if (!before) continue;
        const { provider } = after;
        const model = modelOf(after);
        const name = JSON.stringify([provider, model]);
        const row = rows.get(name);
        rows.set(name, {
          provider,
          model,
          requests: (row?.requests ?? 0) + 1,
          unknownBefore: (row?.unknownBefore ?? 0) + isUnknown(before),
          unknownAfter: (row?.unknownAfter ?? 0) + isUnknown(after),
          nanoUsdBefore: (row?.nanoUsdBefore ?? 0) + (before.costNanoUsd ?? 0),
          nanoUsdAfter: (row?.nanoUsdAfter ?? 0) + (after.costNanoUsd ?? 0),
        });
      }
    },
    /** Largest difference first. */
    rows: (): CostDifference[] =>
      [...rows.values()].sort(
        (a, b) => Math.abs(b.nanoUsdAfter - b.nanoUsdBefore) - Math.abs(a.nanoUsdAfter - a.nanoUsdBefore),
      ),
    requests: () => [...rows.values()].reduce((sum, { requests }) => sum + requests, 0),
  };
};
