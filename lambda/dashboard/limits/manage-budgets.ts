import type { ServiceKeys } from '../../data/accounts/service-keys.ts';
import type { BlockStore } from '../../data/alerts/blocks.ts';
import type { Rule, Rules } from '../../data/alerts/rules.ts';
import type { Reservations } from '../../data/ledger/reservations.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { type BudgetConfig, budgetConfigSchema, type Limit } from '../../domain/limits/limit.ts';
import { reservedPeriods, usedById, withLimits } from '../../domain/limits/limit-blocks.ts';
import { limitStates } from '../../domain/limits/limit-states.ts';
import { type BudgetCondition, currentPeriod, evaluatorOf } from '../../domain/limits/rule.ts';
import type { ReadCounters } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import { type PreviewDependencies, previewCondition } from './preview.ts';
import { type KnownNames, requireKnown } from './require-known.ts';
import {
  auditOfRule,
  changedRule,
  mergePatch,
  newRule,
  type RuleChangeDependencies,
} from './rule-changes.ts';
import { membersOf, newSecretOf } from './rule-members.ts';
import { mayBlock, type PolicyDependencies, writePolicy } from './block-policy.ts';
import type * as operations from './budget-operations.ts';
import type { ReadBounds } from './read-bounds.ts';

type Budget = Rule<BudgetCondition>;

export interface BudgetDependencies extends RuleChangeDependencies, PolicyDependencies, KnownNames {
  readonly rules: Pick<Rules, 'list' | 'find' | 'create' | 'replace' | 'remove'>;
  readonly blocks: BlockStore;
  readonly reservations: Pick<Reservations, 'compare'>;
  readonly readBounds: ReadBounds;
  readonly readCounters: ReadCounters;
  readonly keys: Pick<ServiceKeys, 'list'>;
}

const isBudget = (rule: Rule): rule is Budget => rule.condition.type === 'budget';

const budgetsOf = async ({ rules }: { readonly rules: Pick<Rules, 'list'> }, accountId: string): Promise<Budget[]> =>
  (await rules.list(accountId)).filter(isBudget);

/** @throws NotFoundError */
const findBudget = async ({ rules }: Pick<BudgetDependencies, 'rules'>, accountId: string, id: string) => {
  const rule = await rules.find(accountId, id);
  if (!isBudget(rule)) throw new NotFoundError('There is no such budget.');
  return rule;
};

/** Without `readBounds`, states have no bounds. */
type StateDependencies = Pick<BudgetDependencies, 'readCounters' | 'keys' | 'now'> &
  Partial<Pick<BudgetDependencies, 'readBounds'>>;

/** What budgets have used, by id: the spend of their periods, read once for all of them. */
const readStates = async (
  { readCounters, keys, readBounds = async () => new Map(), now }: StateDependencies,
  accountId: string,
  budgets: readonly Budget[],
) => {
  const states = await limitStates({ readCounters, listKeys: keys.list }, accountId, budgets, now());
  const bounds = await readBounds(accountId, states);
  return states.map((state) => ({ ...state, ...bounds.get(state.rule.ruleId) }));
};

type State = Awaited<ReturnType<typeof readStates>>[number];

const view = ({ rule, limit, period, use, projectedNanoUsd, mayAlsoMatch, bound, enforcedFrom }: State) => {
  const { amountNanoUsd, block } = limit;
  return {
    ...membersOf(rule),
    ...rule.condition.config,
    state: {
      period,
      knownNanoUsd: use.knownNanoUsd,
      unpricedRequests: use.unpricedRequests,
      usedNanoUsd: use.usedNanoUsd,
      remainingNanoUsd: amountNanoUsd - use.usedNanoUsd,
      percentUsed: Math.floor((use.usedNanoUsd / amountNanoUsd) * 100),
      projectedNanoUsd,
      isBlocking: rule.isActive && period !== null && block !== null && use.isUsedUp,
      mayAlsoMatch,
      bound: bound ?? null,
      enforcedFrom: enforcedFrom ?? null,
    },
  };
};

const viewOne = async (dependencies: BudgetDependencies, budget: Budget, previous = budget.webhook) => {
  const [state] = await readStates(dependencies, budget.accountId, [budget]);
  return { ...view(state as State), ...newSecretOf(budget, previous) };
};

/** Brings what the gateway knows in line with the account's budgets: at once, not with the evaluator's next run. */
const applyBudgets = async (dependencies: BudgetDependencies, accountId: string): Promise<void> => {
  const { blocks, reservations, keys, now } = dependencies;
  const active = (await budgetsOf(dependencies, accountId)).filter(mayBlock);
  const current = active.flatMap(({ ruleId, name, condition }) => {
    const evaluator = evaluatorOf(condition);
    const period = currentPeriod(evaluator, now());
    return period ? [{ ruleId, name, limit: evaluator.limit as Limit, period }] : [];
  });
  const adjustReservations = await reservations.compare(accountId, reservedPeriods(current));
  const states = (await readStates(dependencies, accountId, active)).flatMap(
    ({ rule: { ruleId, name }, limit, period, use }) => (period ? [{ ruleId, name, limit, period, use }] : []),
  );
  await adjustReservations(usedById(states));
  const listed = await keys.list(accountId);
  await blocks.change(accountId, (before) => withLimits(before, states, new Set(), listed));
  await writePolicy(dependencies, accountId);
};

export const listBudgets =
  (
    dependencies: StateDependencies & {
      readonly rules: Pick<Rules, 'list'>;
    },
  ): Implementation<typeof operations.listBudgets> =>
  async ({ caller: { accountId } }) => ({
    items: (await readStates(dependencies, accountId, await budgetsOf(dependencies, accountId))).map(view),
  });

export const getBudget =
  (dependencies: BudgetDependencies): Implementation<typeof operations.getBudget> =>
  async ({ caller: { accountId }, params: { id } }) =>
    viewOne(dependencies, await findBudget(dependencies, accountId, id));

export const createBudget =
  (dependencies: BudgetDependencies): Implementation<typeof operations.createBudget> =>
  async ({ caller, clientAddress, body: { name, channels, isActive, webhookUrl, targets, ...config } }) => {
    const condition = { type: 'budget', config: config as BudgetConfig } as const;
    const facts = { name, channels, isActive, webhookUrl, targets, condition };
    const budget = await newRule(dependencies, caller.accountId, facts);
    await requireKnown(dependencies, caller.accountId, condition);
    const audit = auditOfRule({ caller, clientAddress }, 'budget.created', budget, budget.createdAt);
    await dependencies.rules.create(budget, audit);
    await applyBudgets(dependencies, caller.accountId);
    return viewOne(dependencies, budget, null);
  };

export const previewBudget =
  (dependencies: PreviewDependencies): Implementation<typeof operations.previewBudget> =>
  ({
    caller: { accountId },
    body: { name: _, channels: _channels, isActive: _isActive, webhookUrl: _url, targets: _targets, ...config },
  }) =>
    previewCondition(dependencies, accountId, { type: 'budget', config: config as BudgetConfig });

export const updateBudget =
  (dependencies: BudgetDependencies): Implementation<typeof operations.updateBudget> =>
  async ({
    caller,
    clientAddress,
    params: { id },
    body: { name, channels, isActive, webhookUrl, targets, ...patch },
  }) => {
    const previous = await findBudget(dependencies, caller.accountId, id);
    // Members that the client did not send must not become null.
    const sent = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    const config = parseWith(budgetConfigSchema, mergePatch(previous.condition.config, sent));
    const facts = { name, channels, isActive, webhookUrl, targets, condition: { type: 'budget', config } as const };
    const budget = await changedRule(dependencies, previous, facts);
    if (budget === undefined) return viewOne(dependencies, previous);
    if (budget.isActive) await requireKnown(dependencies, caller.accountId, budget.condition);
    const audit = auditOfRule({ caller, clientAddress }, 'budget.changed', budget, budget.updatedAt, previous);
    await dependencies.rules.replace(budget, previous.revision, audit);
    await applyBudgets(dependencies, caller.accountId);
    return viewOne(dependencies, budget, previous.webhook);
  };

export const deleteBudget =
  (dependencies: BudgetDependencies): Implementation<typeof operations.deleteBudget> =>
  async ({ caller, clientAddress, params: { id } }) => {
    const budget = await findBudget(dependencies, caller.accountId, id);
    const at = dependencies.now().toISOString();
    await dependencies.rules.remove(
      caller.accountId,
      id,
      auditOfRule({ caller, clientAddress }, 'budget.deleted', budget, at),
    );
    await applyBudgets(dependencies, caller.accountId);
    return undefined;
  };
