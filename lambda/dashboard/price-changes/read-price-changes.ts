import type { PriceFeed } from '../../data/prices/price-versions.ts';
import type { PriceChangeOfDay } from '../../data/prices/repricing.ts';
import { byModel, sumOfDifferences } from '../../domain/price/cost-differences.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import type { listPriceChanges as listOperation } from './operations.ts';

const MAX_VERSIONS = 100;
const MAX_WAITING = 100;

const sumOf = (version: number, days: readonly PriceChangeOfDay[]) => {
  const rows = days.flatMap(({ differences }) => differences);
  const sorted = days.map(({ day }) => day).sort();
  return {
    version,
    repricedAt:
      days
        .map(({ repricedAt }) => repricedAt)
        .sort()
        .at(-1) ?? '',
    firstDay: sorted[0] ?? '',
    lastDay: sorted.at(-1) ?? '',
    ...sumOfDifferences(rows),
    models: byModel(rows),
  };
};

const stateOf = ({ version, checkedAt, waiting }: PriceFeed) => ({
  version,
  checkedAt,
  waiting: waiting
    .filter(({ decision }) => decision === null)
    .sort((a, b) => (a.firstSeenAt < b.firstSeenAt ? 1 : -1))
    .slice(0, MAX_WAITING)
    .map(({ why = 'step', ...change }) => ({ ...change, why })),
});

export const listPriceChanges =
  ({ changes: { of }, versions: { readFeed } }: Reading): Implementation<typeof listOperation> =>
  async ({ caller: { accountId } }) => {
    const versions = new Map<number, PriceChangeOfDay[]>();
    for await (const change of of(accountId)) {
      const days = versions.get(change.version);
      if (days) days.push(change);
      else if (versions.size === MAX_VERSIONS) break;
      else versions.set(change.version, [change]);
    }
    return { feed: stateOf(await readFeed()), items: [...versions].map(([version, days]) => sumOf(version, days)) };
  };
