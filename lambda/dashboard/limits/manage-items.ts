import type { Rule, Rules } from '../../data/alerts/rules.ts';
import { NotFoundError } from '../../domain/errors.ts';
import type { RuleCondition } from '../../domain/limits/rule.ts';
import type { Caller } from '../../http/operation.ts';
import { type PreviewDependencies, previewCondition } from './preview.ts';
import {
  auditOfRule,
  changedRule,
  type KnownNames,
  newRule,
  type RuleChangeDependencies,
  type RuleFacts,
  requireKnown,
} from './rule-changes.ts';
import { newSecretOf } from './rule-members.ts';

interface From {
  readonly caller: Caller;
  readonly clientAddress?: string | undefined;
}

type WithId<T> = T & { readonly params: { readonly id: string } };

/** Both APIs take these apart from the members of a condition. */
type Facts = Omit<RuleFacts<RuleCondition>, 'condition'>;
type SomeFacts = { readonly [Name in keyof Facts]?: Facts[Name] | undefined };

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

export interface ItemDependencies extends RuleChangeDependencies, KnownNames {
  readonly rules: Pick<Rules, 'list' | 'find' | 'create' | 'replace' | 'remove'>;
}

/**
 * The operations of one kind, over dependencies. Rules and budgets are stored alike, so each API has the same, and does not find what is
 * of the other kind.
 *
 * @param apply brings what the gateway knows in line with a rule that was changed, at once
 */
export const itemsOf = <Condition extends RuleCondition, Needs, Shown extends object, Writing extends ItemDependencies>(
  { noun, audited, isOne, show, conditionOf, patched }: Kind<Condition, Needs, Shown>,
  apply: (dependencies: Writing, rule: Rule<Condition>) => Promise<void>,
) => {
  /** @throws NotFoundError */
  const find = async ({ rules }: { readonly rules: Pick<Rules, 'find'> }, accountId: string, id: string) => {
    const rule = await rules.find(accountId, id);
    if (!isOne(rule)) throw new NotFoundError(`There is no such ${noun}.`);
    return rule;
  };
  const showOne = async (needs: Needs, rule: Rule<Condition>, previous = rule.webhook) => {
    const [shown] = await show(needs, rule.accountId, [rule]);
    return { ...(shown as Shown), ...newSecretOf(rule, previous) };
  };
  return {
    list:
      (dependencies: Needs & { readonly rules: Pick<Rules, 'list'> }) =>
      async ({ caller: { accountId } }: From) => ({
        items: await show(dependencies, accountId, (await dependencies.rules.list(accountId)).filter(isOne)),
      }),

    get:
      (dependencies: Needs & { readonly rules: Pick<Rules, 'find'> }) =>
      async ({ caller: { accountId }, params: { id } }: WithId<From>) =>
        showOne(dependencies, await find(dependencies, accountId, id)),

    create:
      (dependencies: Needs & Writing) =>
      async ({ caller, clientAddress, body }: From & { readonly body: Facts }) => {
        const { name, channels, isActive, webhookUrl, targets, ...members } = body;
        const condition = conditionOf(members);
        await requireKnown(dependencies, caller.accountId, condition);
        const facts = { name, channels, isActive, webhookUrl, targets, condition };
        const rule = await newRule(dependencies, caller.accountId, facts);
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.created`, rule, rule.createdAt);
        await dependencies.rules.create(rule, audit);
        await apply(dependencies, rule);
        return showOne(dependencies, rule, null);
      },

    preview:
      (dependencies: PreviewDependencies) =>
      async ({ caller: { accountId }, body }: From & { readonly body: SomeFacts }) => {
        const { name: _, channels: _channels, isActive: _isActive, webhookUrl: _url, targets: _t, ...members } = body;
        return previewCondition(dependencies, accountId, conditionOf(members));
      },

    update:
      (dependencies: Needs & Writing) =>
      async ({ caller, clientAddress, params: { id }, body }: WithId<From> & { readonly body: SomeFacts }) => {
        const { name, channels, isActive, webhookUrl, targets, ...members } = body;
        const previous = await find(dependencies, caller.accountId, id);
        const condition = patched(previous.condition, members);
        const facts = { name, channels, isActive, webhookUrl, targets, condition };
        const rule = await changedRule(dependencies, previous, facts);
        if (rule === undefined) return showOne(dependencies, previous);
        if (rule.isActive) await requireKnown(dependencies, caller.accountId, rule.condition);
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.changed`, rule, rule.updatedAt, previous);
        await dependencies.rules.replace(rule, previous.revision, audit);
        await apply(dependencies, rule);
        return showOne(dependencies, rule, previous.webhook);
      },

    remove:
      (dependencies: Writing) =>
      async ({ caller, clientAddress, params: { id } }: WithId<From>) => {
        const rule = await find(dependencies, caller.accountId, id);
        const at = dependencies.now().toISOString();
        const audit = auditOfRule({ caller, clientAddress }, `${audited}.deleted`, rule, at);
        await dependencies.rules.remove(caller.accountId, id, audit);
        await apply(dependencies, rule);
        return undefined;
      },
  };
};
