import type { Change } from '../../lambda/data/ledger/transactions.ts';
import { modelOf, type RequestRecord } from '../../lambda/domain/spend/request-record.ts';

interface Row {
  requests: number;
  unpricedBefore: number;
  unpricedAfter: number;
  nanoUsdBefore: number;
  nanoUsdAfter: number;
}

const isUnpriced = ({ provenance }: RequestRecord): number => Number(provenance === 'unknown');

/** What re-pricing changes, summed by provider and model. */
export const differenceTable = () => {
  const rows = new Map<string, Row>();
  return {
    add: (changes: readonly Change[]): void => {
      for (const { before, after } of changes) {
        if (!before) continue;
        const name = `${after.provider} ${modelOf(after) ?? '(no model)'}`;
        const row = rows.get(name) ?? {
          requests: 0,
          unpricedBefore: 0,
          unpricedAfter: 0,
          nanoUsdBefore: 0,
          nanoUsdAfter: 0,
        };
        row.requests += 1;
        row.unpricedBefore += isUnpriced(before);
        row.unpricedAfter += isUnpriced(after);
        row.nanoUsdBefore += before.costNanoUsd ?? 0;
        row.nanoUsdAfter += after.costNanoUsd ?? 0;
        rows.set(name, row);
      }
    },
    /** Largest difference first; costs in USD. */
    rows: () =>
      [...rows]
        .sort(([, a], [, b]) => Math.abs(b.nanoUsdAfter - b.nanoUsdBefore) - Math.abs(a.nanoUsdAfter - a.nanoUsdBefore))
        .map(([model, { nanoUsdBefore, nanoUsdAfter, ...counts }]) => ({
          model,
          ...counts,
          usdBefore: nanoUsdBefore / 1e9,
          usdAfter: nanoUsdAfter / 1e9,
          usdDifference: (nanoUsdAfter - nanoUsdBefore) / 1e9,
        })),
    requests: () => [...rows.values()].reduce((sum, { requests }) => sum + requests, 0),
  };
};
