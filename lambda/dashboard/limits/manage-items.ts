import type { Rule } from '../../data/alerts/rules.ts';
import { hasKey, hasProject, scopeOf } from '../../domain/accounts/scope.ts';
import { coveringRange } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { ForbiddenError, invalid, NotFoundError, orUndefined } from '../../domain/errors.ts';
import { backtest, backtestRange } from '../../domain/limits/backtest.ts';
import { backtestValues, valuesRange } from '../../domain/limits/backtest-values.ts';
import { type BurnRateCondition, evaluatorOf, isRuleIn, type RuleCondition } from '../../domain/limits/rule.ts';
import { spendSeries, splitSeries } from '../../domain/limits/spend-series.ts';
import { type AsRead, requireAsRead } from '../../http/as-read.ts';
import type { Caller, CallerInput } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import { mayBlock } from './block-policy.ts';
import { auditOfRule, changedRule, newRule, type RuleFacts, requireKnown } from './rule-changes.ts';
import { newSecretOf } from './rule-members.ts';

const previewValues = async (
  { readCounters, readSessions, keys }: Settings,
  { accountId, condition, at }: { accountId: string; condition: BurnRateCondition; at: Date },
) => {
  const evaluator = evaluatorOf(condition);
  const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
  const series = splitSeries(evaluator);
  const { from, readFrom } = valuesRange(at);
  if (evaluator.splitBy === 'session')
    await readSessions(accountId, { from: dayOf(from.toISOString()), to: dayOf(at.toISOString()) }, series.addSession);
  else {
    const range = coveringRange('hour', readFrom, new Date(at.getTime() + 1));
    for await (const counter of readCounters({ accountId, range, groupBy: evaluator.readBy })) series.add(counter);
  }
  const result = backtestValues(condition, series.ofValues, at);
  const alerts = result.alerts.map(({ of, ...alert }) => ({
    ...alert,
    of: of?.dimension === 'key' ? { ...of, label: names.get(of.value) ?? null } : of,
  }));
  return { ...result, alerts, mayAlsoMatch: null };
};

/** Judges the last 30 days by a rule or budget. Nothing is stored or sent. */
const previewCondition = async (dependencies: Settings, accountId: string, condition: RuleCondition) => {
  await requireKnown(dependencies, accountId, condition);
  const at = dependencies.now();
  if (condition.type === 'burn_rate') return previewValues(dependencies, { accountId, condition, at });
  const evaluator = evaluatorOf(condition);
  // Values have no counters of spend: all together against the amount of one would say nothing.
  if (evaluator.limit?.each) throw invalid('each', 'cannot be tested on past requests');
  const { read } = backtestRange(condition, at);
  const series = spendSeries(evaluator);
  for await (const counter of dependencies.readCounters({ accountId, range: read, groupBy: evaluator.readBy }))
    series.add(counter);
  return { ...backtest(condition, series, at), mayAlsoMatch: series.mayAlsoMatch(read.from, read.to) ?? null };
};

type WithId<T> = T & { readonly params: { readonly id: string } };

/** Both APIs take these apart from the members of a condition. */
type Facts = Omit<RuleFacts<RuleCondition>, 'condition'>;
type SomeFacts = { readonly [Name in keyof Facts]?: Facts[Name] | undefined };
type Change = SomeFacts & { readonly was?: AsRead | undefined };

/** The members of a condition in a body. */
const conditionIn = ({ name: _, channels: _c, isActive: _a, webhookUrl: _w, targets: _t, ...members }: SomeFacts) =>
  members;

/** A view of the account's rules: alert rules, or budgets. `Needs` is what showing one reads. */
interface Kind<Condition extends RuleCondition, Needs, Shown> {
  readonly noun: string;
  /** Its actions in the audit log: `budget.created`. */
  readonly audited: 'alert_rule' | 'budget';
  readonly isOne: (rule: Rule) => rule is Rule<Condition>;
  readonly show: (needs: Needs, accountId: string, rules: readonly Rule<Condition>[]) => Promise<Shown[]>;
  /** The condition in the body of a new one. */
  readonly conditionOf: (members: object) => Condition;
  /** @returns undefined where the body changes nothing of the condition. @throws ValidationError */
  readonly patched: (previous: Condition, members: object) => Condition | undefined;
}

/** @throws ForbiddenError where a rule counts more than the caller sees, or names what the caller may not know to be there */
const requireSeen = (caller: Caller, condition: RuleCondition): void => {
  const { sees } = scopeOf(caller);
  const { keyId, project } = evaluatorOf(condition).filter ?? {};
  const isNamed = (keyId === undefined || hasKey(sees, keyId)) && (project === undefined || hasProject(sees, project));
  if (!isNamed || !isRuleIn(sees, condition))
    throw new ForbiddenError('You see only a part of this account. Filter by a project, key or member that you see.');
};

/** @throws ForbiddenError where a budget stops the caller alone, who may not give single values more */
const requireOthers = async ({ keys }: Settings, caller: Caller, condition: RuleCondition) => {
  const { filter: { member, keyId } = {}, limit } = evaluatorOf(condition);
  if (!limit?.block || scopeOf(caller).permits('raises:decide')) return;
  const key = keyId === undefined ? undefined : await keys.find(caller.accountId, keyId);
  if (member === caller.userId || key?.ownerUserId === caller.userId)
    throw new ForbiddenError('This budget stops only you. Ask an owner or admin to change it.');
};

/** @throws ValidationError where the days of a limit of each began before the requests on record, by which its values are counted */
const requireCountable = async ({ termsOf, now }: Settings, accountId: string, condition: RuleCondition) => {
  const { limit } = evaluatorOf(condition);
  if (!limit?.each || typeof limit.period === 'string') return;
  const { retentionDays } = await termsOf(accountId);
  if (now().getTime() - Date.parse(limit.period.from) <= retentionDays * DAY_MS) return;
  const message = `must be within the ${retentionDays} days for which requests are on record: values are counted by them`;
  throw invalid('period.from', message);
};

/**
 * The operations of one kind, over dependencies. Rules and budgets are stored alike, so each API has the same, and does not find what is
 * of the other kind.
 *
 * @param apply brings what the gateway knows in line with a rule that was changed, at once
 */
export const itemsOf = <Condition extends RuleCondition, Needs, Shown extends object>(
  { noun, audited, isOne, show, conditionOf, patched }: Kind<Condition, Needs, Shown>,
  apply: (dependencies: Settings, rule: Rule<Condition>) => Promise<void>,
) => {
  const isSeen = (caller: Caller, rule: Rule): rule is Rule<Condition> =>
    isOne(rule) && isRuleIn(scopeOf(caller).sees, rule.condition);
  /** @throws NotFoundError */
  const find = async ({ rules }: Pick<Settings, 'rules'>, caller: Caller, id: string) => {
    const rule = await orUndefined(rules.find(caller.accountId, id));
    if (rule === undefined || !isSeen(caller, rule)) throw new NotFoundError(`There is no such ${noun}.`);
    return rule;
  };
  const showOne = async (needs: Needs, rule: Rule<Condition>, previous = rule.webhook) => {
    const [shown] = await show(needs, rule.accountId, [rule]);
    return { ...(shown as Shown), ...newSecretOf(rule, previous) };
  };
  return {
    list:
      (dependencies: Needs & Pick<Settings, 'rules'>) =>
      async ({ caller }: CallerInput) => {
        const { items, unreadable } = await dependencies.rules.listAll(caller.accountId);
        const seen = items.filter((rule) => isSeen(caller, rule));
        const others = unreadable.filter(({ type }) => (type === 'budget') === (audited === 'budget'));
        return { items: await show(dependencies, caller.accountId, seen), unreadable: others.length || undefined };
      },

    get:
      (dependencies: Needs & Pick<Settings, 'rules'>) =>
      async ({ caller, params: { id } }: WithId<CallerInput>) =>
        showOne(dependencies, await find(dependencies, caller, id)),

    create:
      (dependencies: Needs & Settings) =>
      async ({ caller, clientAddress, body }: CallerInput & { readonly body: Facts }) => {
        const condition = conditionOf(conditionIn(body));
        requireSeen(caller, condition);
        await requireCountable(dependencies, caller.accountId, condition);
        const requires = () => requireKnown(dependencies, caller.accountId, condition);
        const rule = await newRule(dependencies, caller.accountId, { ...body, condition });
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.created`, rule, new Date(rule.createdAt));
        if (mayBlock(rule)) await dependencies.blockCopies.expect(caller.accountId);
        await dependencies.rules.create(rule, { ...audit, requires });
        await apply(dependencies, rule);
        return showOne(dependencies, rule, null);
      },

    preview:
      (dependencies: Settings) =>
      async ({ caller, body }: CallerInput & { readonly body: SomeFacts }) => {
        const condition = conditionOf(conditionIn(body));
        requireSeen(caller, condition);
        return previewCondition(dependencies, caller.accountId, condition);
      },

    update:
      (dependencies: Needs & Settings) =>
      async ({
        caller,
        clientAddress,
        params: { id },
        body: { was, ...body },
      }: WithId<CallerInput> & { readonly body: Change }) => {
        const previous = await find(dependencies, caller, id);
        await requireOthers(dependencies, caller, previous.condition);
        if (was) requireAsRead(await showOne(dependencies, previous), was, body);
        const condition = patched(previous.condition, conditionIn(body));
        const rule = await changedRule(dependencies, previous, { ...body, condition });
        if (rule === undefined) return showOne(dependencies, previous);
        requireSeen(caller, rule.condition);
        const requires = async () => rule.isActive && requireKnown(dependencies, caller.accountId, rule.condition);
        const at = new Date(rule.updatedAt);
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.changed`, rule, at, previous);
        if (mayBlock(rule)) await dependencies.blockCopies.expect(caller.accountId);
        await dependencies.rules.replace(rule, previous.revision, { ...audit, requires });
        await apply(dependencies, rule);
        return showOne(dependencies, rule, previous.webhook);
      },

    remove:
      (dependencies: Settings) =>
      async ({ caller, clientAddress, params: { id } }: WithId<CallerInput>) => {
        const rule = await find(dependencies, caller, id);
        await requireOthers(dependencies, caller, rule.condition);
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.deleted`, rule, dependencies.now());
        await dependencies.rules.remove(caller.accountId, id, audit);
        await apply(dependencies, rule);
      },
  };
};
