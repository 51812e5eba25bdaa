import type { Block, BlockScope, Blocks, Remaining } from '../budgets/block.ts';
import type { Period } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import type { BudgetConfig, BudgetUse } from './budget.ts';

/** What a budget's current period has used. */
export interface BudgetState {
  readonly budgetId: string;
  readonly name: string;
  readonly config: BudgetConfig;
  readonly period: Period;
  readonly use: BudgetUse;
}

const scopeOf = ({ provider, model, tag, key, client, dim }: NonNullable<BudgetConfig['filter']> = {}): BlockScope => ({
  ...(provider !== undefined && { provider }),
  ...(model !== undefined && { model }),
  ...(tag !== undefined && { tag }),
  ...(key !== undefined && { keyIds: [key] }),
  ...(client !== undefined && { client }),
  ...(dim !== undefined && { metadata: dim }),
});

/** True where the gateway has to know of a budget. */
export const concernsGateway = ({ block, showRemaining }: BudgetConfig): boolean => block !== null || showRemaining;

const blockOf = ({ budgetId, name, config, period, use }: BudgetState): Block[] =>
  config.block !== null && use.isUsedUp
    ? [
        {
          id: budgetId,
          kind: 'budget',
          name,
          scope: scopeOf(config.filter),
          until: period.end,
          amountNanoUsd: usdToNanoUsd(config.amount),
          spentNanoUsd: use.usedNanoUsd,
        },
      ]
    : [];

const remainingOf = ({ budgetId, config, period, use }: BudgetState): Remaining[] =>
  config.showRemaining
    ? [
        {
          id: budgetId,
          scope: scopeOf(config.filter),
          until: period.end,
          nanoUsd: usdToNanoUsd(config.amount) - use.usedNanoUsd,
        },
      ]
    : [];

/**
 * The blocks of an account after its budgets were judged. Pauses stay, and so do the blocks of budgets that could not be judged. A block
 * keeps the amount that was spent when it began, as long as it lasts.
 *
 * @param unjudged ids of budgets whose state is not known
 */
export const withBudgets = (
  { blocks, remaining }: Blocks,
  budgets: readonly BudgetState[],
  unjudged: ReadonlySet<string>,
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
      ...budgets.flatMap(blockOf).map(since),
    ],
    remaining: [...remaining.filter(({ id }) => unjudged.has(id)), ...budgets.flatMap(remainingOf)],
  };
};
