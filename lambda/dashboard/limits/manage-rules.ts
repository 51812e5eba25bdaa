import type { Rule, Rules } from '../../data/alerts/rules.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { type AlertCondition, ruleConditionSchema } from '../../domain/limits/rule.ts';
import type { Implementation } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import type * as operations from './rule-operations.ts';
import { type KnownNames, requireKnown } from './require-known.ts';
import { auditOfRule, changedRule, mergePatch, newRule, type RuleChangeDependencies } from './rule-changes.ts';
import { membersOf, newSecretOf } from './rule-members.ts';

export interface RuleDependencies extends RuleChangeDependencies, KnownNames {
  /** Tells the gateway whether requests of the account may be stopped. */
  readonly writePolicy: (accountId: string) => Promise<void>;
  readonly rules: Pick<Rules, 'list' | 'find' | 'create' | 'replace' | 'remove'>;
}

/** Budgets are rules, too, with an API of their own. */
const isAlertRule = (rule: Rule): rule is Rule<AlertCondition> => rule.condition.type !== 'budget';

/** @throws NotFoundError */
const findAlertRule = async ({ rules }: Pick<RuleDependencies, 'rules'>, accountId: string, ruleId: string) => {
  const rule = await rules.find(accountId, ruleId);
  if (!isAlertRule(rule)) throw new NotFoundError('There is no such alert rule.');
  return rule;
};

const view = (rule: Rule<AlertCondition>) => ({
  ...membersOf(rule),
  type: rule.condition.type,
  config: { ...rule.condition.config },
});

const viewWithSecret = (rule: Rule<AlertCondition>, previous: Rule['webhook']) => ({
  ...view(rule),
  ...newSecretOf(rule, previous),
});

/** Rules that pause are judged at once, and the gateway reads the blocks of accounts that have some. */
const tellGateway = async ({ writePolicy }: RuleDependencies, { accountId, condition }: Rule): Promise<void> => {
  if (condition.type === 'burn_rate') await writePolicy(accountId);
};

export const listRules =
  ({ rules }: Pick<RuleDependencies, 'rules'>): Implementation<typeof operations.listRules> =>
  async ({ caller: { accountId } }) => ({ items: (await rules.list(accountId)).filter(isAlertRule).map(view) });

export const getRule =
  ({ rules }: Pick<RuleDependencies, 'rules'>): Implementation<typeof operations.getRule> =>
  async ({ caller: { accountId }, params: { id } }) =>
    view(await findAlertRule({ rules }, accountId, id));

export const createRule =
  (dependencies: RuleDependencies): Implementation<typeof operations.createRule> =>
  async ({ caller, clientAddress, body: { name, channels, isActive, webhookUrl, targets, ...condition } }) => {
    const facts = { name, channels, isActive, webhookUrl, targets, condition: condition as AlertCondition };
    await requireKnown(dependencies, caller.accountId, facts.condition);
    const rule = await newRule(dependencies, caller.accountId, facts);
    await dependencies.rules.create(
      rule,
      auditOfRule({ caller, clientAddress }, 'alert_rule.created', rule, rule.createdAt),
    );
    await tellGateway(dependencies, rule);
    return viewWithSecret(rule, null);
  };

/** Merges a patch into the config and validates it by the rule type's schema. A pause is replaced: null is a value of its `minutes`. */
const patchCondition = (
  { type, config }: AlertCondition,
  { pause, ...patch }: Record<string, unknown>,
): AlertCondition => {
  const merged = mergePatch(config, patch) as AlertCondition['config'];
  return parseWith(ruleConditionSchema, {
    type,
    config: pause === undefined ? merged : { ...merged, pause },
  }) as AlertCondition;
};

export const updateRule =
  (dependencies: RuleDependencies): Implementation<typeof operations.updateRule> =>
  async ({ caller, clientAddress, params: { id }, body: { config, ...patch } }) => {
    const previous = await findAlertRule(dependencies, caller.accountId, id);
    const condition = config && patchCondition(previous.condition, config);
    const rule = await changedRule(dependencies, previous, { ...patch, condition });
    if (rule === undefined) return view(previous);
    if (rule.isActive) await requireKnown(dependencies, caller.accountId, rule.condition);
    const audit = auditOfRule({ caller, clientAddress }, 'alert_rule.changed', rule, rule.updatedAt, previous);
    await dependencies.rules.replace(rule, previous.revision, audit);
    await tellGateway(dependencies, rule);
    return viewWithSecret(rule, previous.webhook);
  };

export const deleteRule =
  (dependencies: RuleDependencies): Implementation<typeof operations.deleteRule> =>
  async ({ caller, clientAddress, params: { id } }) => {
    const rule = await findAlertRule(dependencies, caller.accountId, id);
    const at = dependencies.now().toISOString();
    const audit = auditOfRule({ caller, clientAddress }, 'alert_rule.deleted', rule, at);
    await dependencies.rules.remove(caller.accountId, id, audit);
    await tellGateway(dependencies, rule);
    return undefined;
  };
