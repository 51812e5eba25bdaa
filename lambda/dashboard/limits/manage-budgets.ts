import { isDeepStrictEqual } from 'node:util';
import type { Rule } from '../../data/alerts/rules.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { invalid } from '../../domain/errors.ts';
import { percentUsed } from '../../domain/limits/each.ts';
import { type BudgetConfig, budgetConfigSchema, type Limit } from '../../domain/limits/limit.ts';
import {
  askPage,
  eachLimitOf,
  needsBelongings,
  reservedPeriods,
  usedById,
  withLimits,
} from '../../domain/limits/limit-blocks.ts';
import { limitStates } from '../../domain/limits/limit-states.ts';
import { type BudgetCondition, currentPeriod, evaluatorOf } from '../../domain/limits/rule.ts';
import { needsKeys } from '../../domain/spend/key-dimensions.ts';
import { parseWith } from '../../http/parse-request.ts';
import type { Settings } from '../open-settings.ts';
import { mayBlock, writePolicy } from './block-policy.ts';
import { itemsOf } from './manage-items.ts';
import { mergePatch } from './rule-changes.ts';
import { membersOf } from './rule-members.ts';

type Budget = Rule<BudgetCondition>;

const isBudget = (rule: Rule): rule is Budget => rule.condition.type === 'budget';

/** Showing budgets reads these. Without `readBounds`, states have no bounds. */
type StateNeeds = Pick<Settings, 'readCounters' | 'now'> & Partial<Pick<Settings, 'readBounds'>>;

/** The use of budgets: the spend of their periods, read once for all of them. */
const readStates = async (
  { readCounters, readBounds = async () => new Map(), now }: StateNeeds,
  accountId: string,
  budgets: readonly Budget[],
) => {
  const states = await limitStates(readCounters, accountId, budgets, now());
  const bounds = await readBounds(accountId, states);
  return states.map((state) => ({ ...state, ...bounds.get(state.rule.ruleId) }));
};

type State = Awaited<ReturnType<typeof readStates>>[number];

const view = ({ rule, limit, period, use, projectedNanoUsd, mayAlsoMatch, bound, enforcedFrom }: State) => {
  const { amountNanoUsd, block, each } = limit;
  return {
    ...membersOf(rule),
    ...rule.condition.config,
    state: {
      period,
      ...use,
      remainingNanoUsd: each ? null : amountNanoUsd - use.usedNanoUsd,
      percentUsed: each ? null : percentUsed(use.usedNanoUsd, amountNanoUsd),
      projectedNanoUsd,
      isBlocking: rule.isActive && !each && block !== null && use.isUsedUp,
      mayAlsoMatch,
      bound: bound ?? null,
      enforcedFrom: enforcedFrom ?? null,
    },
  };
};

/** Brings what the gateway knows in line with the account's budgets: at once, not with the evaluator's next run. */
const applyBudgets = async (dependencies: Settings, { accountId }: Budget): Promise<void> => {
  const { blocks, reservations, keys, now } = dependencies;
  const rules = (await dependencies.rules.list(accountId)).filter(({ isActive }) => isActive);
  const active = rules.filter(isBudget).filter((rule) => mayBlock(rule) || rule.condition.config.each);
  const limits = active.map(({ ruleId, name, condition }) => {
    const evaluator = evaluatorOf(condition);
    return { ruleId, name, limit: evaluator.limit as Limit, period: currentPeriod(evaluator, now()) };
  });
  const current = limits.flatMap(({ period, ...each }) => (period && !each.limit.each ? [{ ...each, period }] : []));
  const adjustReservations = await reservations.compare(accountId, reservedPeriods(current));
  const states = (await readStates(dependencies, accountId, active)).flatMap(
    ({ rule: { ruleId, name }, limit, period, use }) =>
      period && !limit.each ? [{ ruleId, name, limit, period, use }] : [],
  );
  await adjustReservations(usedById(states));
  const hasMembers = limits.some(({ limit }) => needsBelongings(limit));
  const listed = hasMembers || limits.some(({ limit }) => needsKeys(limit.filter)) ? await keys.list(accountId) : [];
  const members = hasMembers ? await dependencies.users.recipients(accountId) : [];
  const askUrl = askPage(dependencies.dashboardUrl);
  const each = limits.flatMap((limit) => eachLimitOf(limit, { keys: listed, members }, askUrl) ?? []);
  await blocks.changeByLimits(accountId, rules, (before) => withLimits(before, states, listed, each, now()));
  await writePolicy(dependencies, accountId);
};

/** The members by which a limit with `each` counts: after a change its earlier counts would be wrong. */
const countedBy = ({ each, period, filter, unknownCost }: BudgetConfig) => [each, period, filter, unknownCost];

/** @throws ValidationError */
const requireSound = (config: BudgetConfig): BudgetConfig => {
  for (const name of ['amountByProject', 'amountByRole'] as const)
    if (config[name] && config.each !== 'member' && config.each !== 'key')
      throw invalid(name, 'needs `each` to be member or key');
  const role = Object.keys(config.amountByRole ?? {}).find((each) => !(roles as readonly string[]).includes(each));
  if (role !== undefined) throw invalid('amountByRole', `${role} is not one of ${roles.join(', ')}`);
  return config;
};

const conditionOf = (config: object): BudgetCondition => ({
  type: 'budget',
  config: requireSound(config as BudgetConfig),
});

const items = itemsOf(
  {
    noun: 'budget',
    audited: 'budget',
    isOne: isBudget,
    show: async (dependencies: StateNeeds, accountId, budgets: readonly Budget[]) =>
      (await readStates(dependencies, accountId, budgets)).map(view),
    conditionOf,
    patched: ({ config }, members) => {
      const next = parseWith(budgetConfigSchema, mergePatch(config, members));
      if ((config.each ?? next.each) !== undefined && !isDeepStrictEqual(countedBy(config), countedBy(next)))
        throw invalid('each', 'cannot change with its period, filter and unknownCost: make another budget');
      return conditionOf(next);
    },
  },
  applyBudgets,
);

export const listBudgets = items.list;

export const manageBudgets = (settings: Settings) => ({
  listBudgets: listBudgets(settings),
  getBudget: items.get(settings),
  createBudget: items.create(settings),
  previewBudget: items.preview(settings),
  updateBudget: items.update(settings),
  deleteBudget: items.remove(settings),
});
