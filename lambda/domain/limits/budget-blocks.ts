import { activeKeyIds, type KeyInProject } from '../accounts/project.ts';
import type { Period } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import type { Block, BlockScope, Blocks, Remaining, ReservedBudget } from './block.ts';
import type { UseSample } from './bound.ts';
import { type BudgetConfig, type BudgetUse, limitOf } from './budget.ts';
import { periodId, type Reservation } from './reservation.ts';

/** What a budget's current period has used. */
export interface BudgetState {
  readonly budgetId: string;
  readonly name: string;
  readonly config: BudgetConfig;
  readonly period: Period;
  readonly use: BudgetUse;
}

type Filter = NonNullable<BudgetConfig['filter']>;

const keyIdsOf = ({ key, project }: Filter, keys: readonly KeyInProject[]): readonly string[] | undefined => {
  if (project === undefined) return key === undefined ? undefined : [key];
  return activeKeyIds(keys, project).filter((keyId) => key === undefined || keyId === key);
};

/** The requests that a filter matches. @param keys of the account: a project is those that it has now */
export const scopeOf = (filter: Filter | undefined, keys: readonly KeyInProject[]): BlockScope => {
  const { provider, model, tag, client, dim } = filter ?? {};
  const keyIds = keyIdsOf(filter ?? {}, keys);
  return {
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(tag !== undefined && { tag }),
    ...(keyIds !== undefined && { keyIds }),
    ...(client !== undefined && { client }),
    ...(dim !== undefined && { metadata: dim }),
  };
};

/** True where the gateway has to know of a budget. */
export const concernsGateway = ({ block, showRemaining }: BudgetConfig): boolean => block !== null || showRemaining;

const blockOf = ({ budgetId, name, config, period, use }: BudgetState, keys: readonly KeyInProject[]): Block[] =>
  config.block !== null && use.isUsedUp
    ? [
        {
          id: budgetId,
          kind: 'budget',
          name,
          scope: scopeOf(config.filter, keys),
          until: period.end,
          amountNanoUsd: usdToNanoUsd(config.amount),
          spentNanoUsd: use.usedNanoUsd,
        },
      ]
    : [];

const remainingOf = ({ budgetId, config, period, use }: BudgetState, keys: readonly KeyInProject[]): Remaining[] =>
  config.showRemaining
    ? [
        {
          id: budgetId,
          scope: scopeOf(config.filter, keys),
          until: period.end,
          nanoUsd: usdToNanoUsd(config.amount) - use.usedNanoUsd,
        },
      ]
    : [];

/** True where requests reserve from a budget. */
export const isReserved = ({ block }: BudgetConfig): boolean => block?.enforcement === 'reserved';

/** The items that requests reserve from, of those budgets that have some. */
export const reservedPeriods = (
  budgets: readonly Pick<BudgetState, 'budgetId' | 'config' | 'period'>[],
): Pick<Reservation, 'budgetId' | 'periodId'>[] =>
  budgets
    .filter(({ config }) => isReserved(config))
    .map(({ budgetId, period }) => ({ budgetId, periodId: periodId(period) }));

/** What budgets have used, by id. */
export const usedByBudget = (budgets: readonly BudgetState[]): ReadonlyMap<string, number> =>
  new Map(budgets.map(({ budgetId, use }) => [budgetId, use.usedNanoUsd]));

/** What budgets that stop requests have used, for their bounds. */
export const useSamples = (budgets: readonly BudgetState[]): UseSample[] =>
  budgets
    .filter(({ config }) => config.block !== null)
    .map(({ budgetId, period, use }) => ({ budgetId, periodId: periodId(period), usedNanoUsd: use.usedNanoUsd }));

const reservedOf = ({ budgetId, name, config }: BudgetState, keys: readonly KeyInProject[]): ReservedBudget[] => {
  const { unknownCost } = config;
  if (!isReserved(config)) return [];
  return [
    {
      id: budgetId,
      name,
      scope: scopeOf(config.filter, keys),
      period: config.period,
      amountNanoUsd: usdToNanoUsd(config.amount),
      limitNanoUsd: limitOf(config),
      unknownCost:
        typeof unknownCost === 'object'
          ? usdToNanoUsd(unknownCost.countAsUsd)
          : unknownCost === 'block'
            ? 'stop'
            : 'pass',
      onUnavailable: config.block?.onUnavailable ?? 'pass',
    },
  ];
};

/**
 * The blocks of an account after its budgets were judged. Pauses stay, and so do the blocks of budgets that could not be judged. A block
 * keeps the amount that was spent when it began, as long as it lasts.
 *
 * @param unjudged ids of budgets whose state is not known
 * @param keys of the account; empty where no budget filters by project
 */
export const withBudgets = (
  { blocks, remaining, reserved }: Blocks,
  budgets: readonly BudgetState[],
  unjudged: ReadonlySet<string>,
  keys: readonly KeyInProject[],
): Blocks => {
  const begun = new Map(blocks.map((block) => [block.id, block]));
  const since = (block: Block): Block => {
    const before = begun.get(block.id);
    const isSame = before?.until === block.until && before.amountNanoUsd === block.amountNanoUsd;
    return isSame ? { ...block, spentNanoUsd: before.spentNanoUsd } : block;
  };
  return {
    blocks: [
      ...blocks.filter(({ id, kind }) => kind !== 'budget' || unjudged.has(id)),
      ...budgets.flatMap((budget) => blockOf(budget, keys)).map(since),
    ],
    remaining: [
      ...remaining.filter(({ id }) => unjudged.has(id)),
      ...budgets.flatMap((budget) => remainingOf(budget, keys)),
    ],
    reserved: [
      ...reserved.filter(({ id }) => unjudged.has(id)),
      ...budgets.flatMap((budget) => reservedOf(budget, keys)),
    ],
  };
};
