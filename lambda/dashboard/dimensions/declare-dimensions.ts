import { auditOf } from '../../data/accounts/audit-log.ts';
import { filteredBy } from '../../domain/limits/spend-series.ts';
import {
  type DeclaredDimension,
  declare,
  declaredName,
  isDeclared,
  MAX_DECLARED,
} from '../../domain/spend/declared-dimensions.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

const view = (declared: readonly DeclaredDimension[]) => ({
  items: declared
    .map((dimension) => ({
      name: dimension.name,
      isDeclared: isDeclared(dimension),
      periods: dimension.periods.map(({ from, until }) => ({ from, until })),
    }))
    .sort((a, b) => Number(b.isDeclared) - Number(a.isDeclared) || (a.name < b.name ? -1 : 1)),
  limit: MAX_DECLARED,
});

export const manageDimensions = ({
  dimensions,
  rules,
  now,
}: Pick<Settings, 'dimensions' | 'rules' | 'now'>): Implementations<typeof operations> => ({
  listDimensions: async ({ caller: { accountId } }) => view(await dimensions.find(accountId)),

  declareDimensions: async ({ caller, clientAddress, body: { names } }) => {
    const { accountId } = caller;
    const before = await dimensions.find(accountId);
    const removed = before.filter((dimension) => isDeclared(dimension) && !names.includes(dimension.name));
    const requires = () =>
      rules.requireNoFilter(
        accountId,
        (filter) => removed.find(({ name }) => filteredBy(filter).includes(declaredName(name)))?.name,
      );
    const at = now();
    const after = declare(before, names, at.toISOString());
    const fact = { action: 'dimensions.declared', details: { names: names.join(', ') } } as const;
    const audit = { ...auditOf({ caller, clientAddress }, fact, at), requires };
    await dimensions.replace(before, after, audit);
    return view(after);
  },
});
