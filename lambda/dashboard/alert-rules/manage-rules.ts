import { isDeepStrictEqual } from 'node:util';
import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Rule, Rules } from '../../data/alerts/rules.ts';
import { type RuleCondition, ruleConditionSchema } from '../../domain/alert-rules/rule.ts';
import { ValidationError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import type * as operations from './operations.ts';
import { type FindDeclared, requireDeclared } from './require-declared.ts';

export interface RuleDependencies {
  readonly rules: Pick<Rules, 'list' | 'find' | 'create' | 'replace' | 'remove'>;
  /** The problem with a webhook URL; undefined if there is none. */
  readonly webhookUrlProblem: (url: string) => Promise<string | undefined>;
  readonly findDeclared: FindDeclared;
  readonly newRuleId: () => string;
  readonly newSecret: () => string;
  readonly now: () => Date;
}

const view = (rule: Rule) => ({
  id: rule.ruleId,
  type: rule.condition.type,
  name: rule.name,
  config: { ...rule.condition.config },
  channels: rule.channels,
  isActive: rule.isActive,
  webhookUrl: rule.webhook?.url ?? null,
  createdAt: rule.createdAt,
  updatedAt: rule.updatedAt,
});

const webhookProblem = (message: string) => new ValidationError([{ path: 'webhookUrl', message }]);

/** The webhook of a rule. Keeps the secret if the URL is unchanged, else makes a new one. */
const webhookOf = async (
  { webhookUrlProblem, newSecret }: Pick<RuleDependencies, 'webhookUrlProblem' | 'newSecret'>,
  { url, previous, channels }: { url: string | null; previous: Rule['webhook']; channels: Rule['channels'] },
): Promise<Rule['webhook']> => {
  if (url === null) {
    if (channels.includes('webhook')) throw webhookProblem('is required for the channel webhook');
    return null;
  }
  if (url === previous?.url) return previous;
  const problem = await webhookUrlProblem(url);
  if (problem !== undefined) throw webhookProblem(problem);
  return { url, secret: newSecret() };
};

/** The secret is shown only in the response that creates it. */
const withNewSecret = (rule: Rule, previous?: Rule['webhook']) => ({
  ...view(rule),
  ...(rule.webhook && rule.webhook !== previous && { webhookSecret: rule.webhook.secret }),
});

/** The audit entry of a changed rule. Its URL may hold a credential, so it is left out. */
const auditOfRule = (
  source: Parameters<typeof auditOf>[0],
  action: 'alert_rule.created' | 'alert_rule.changed' | 'alert_rule.deleted',
  { ruleId, name, condition: { type, config }, isActive }: Rule,
  at: string,
) => {
  const details = { name, type, isActive: String(isActive), config: JSON.stringify(config) };
  return auditOf(source, { action, subject: ruleId, details }, new Date(at));
};

export const listRules =
  ({ rules }: Pick<RuleDependencies, 'rules'>): Implementation<typeof operations.listRules> =>
  async ({ caller: { accountId } }) => ({ items: (await rules.list(accountId)).map(view) });

export const getRule =
  ({ rules }: Pick<RuleDependencies, 'rules'>): Implementation<typeof operations.getRule> =>
  async ({ caller: { accountId }, params: { id } }) =>
    view(await rules.find(accountId, id));

export const createRule =
  (dependencies: RuleDependencies): Implementation<typeof operations.createRule> =>
  async ({ caller, clientAddress, body: { name, channels, isActive, webhookUrl, ...condition } }) => {
    const { accountId } = caller;
    await requireDeclared(dependencies.findDeclared, accountId, condition as RuleCondition);
    const at = dependencies.now().toISOString();
    const rule: Rule = {
      ruleId: dependencies.newRuleId(),
      accountId,
      name,
      condition: condition as RuleCondition,
      channels: [...new Set(channels)],
      isActive,
      webhook: await webhookOf(dependencies, { url: webhookUrl ?? null, previous: null, channels }),
      createdAt: at,
      updatedAt: at,
      effectiveFrom: at,
      revision: 1,
      conditionRevision: 1,
      firedPeriods: [],
    };
    await dependencies.rules.create(rule, auditOfRule({ caller, clientAddress }, 'alert_rule.created', rule, at));
    return withNewSecret(rule);
  };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON merge patch. @see https://www.rfc-editor.org/rfc/rfc7396 */
const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};

/** Merges a patch into the config and validates it by the rule type's schema. */
const patchCondition = ({ type, config }: RuleCondition, patch: Record<string, unknown>): RuleCondition =>
  parseWith(ruleConditionSchema, { type, config: mergePatch(config, patch) });

export const updateRule =
  (dependencies: RuleDependencies): Implementation<typeof operations.updateRule> =>
  async ({ caller, clientAddress, params: { id }, body: { config, webhookUrl, ...patch } }) => {
    const { accountId } = caller;
    const previous = await dependencies.rules.find(accountId, id);
    const channels = patch.channels ? [...new Set(patch.channels)] : previous.channels;
    const condition = config ? patchCondition(previous.condition, config) : previous.condition;
    const isActive = patch.isActive ?? previous.isActive;
    const webhook = await webhookOf(dependencies, {
      url: webhookUrl === undefined ? (previous.webhook?.url ?? null) : webhookUrl,
      previous: previous.webhook,
      channels,
    });
    const patched = { ...previous, name: patch.name ?? previous.name, condition, channels, isActive, webhook };
    if (isDeepStrictEqual(patched, previous)) return view(previous);
    if (isActive) await requireDeclared(dependencies.findDeclared, accountId, condition);
    const at = dependencies.now().toISOString();
    const isNewCondition = !isDeepStrictEqual(condition, previous.condition);
    const revision = previous.revision + 1;
    const rule: Rule = {
      ...patched,
      updatedAt: at,
      effectiveFrom: isNewCondition || (isActive && !previous.isActive) ? at : previous.effectiveFrom,
      revision,
      ...(isNewCondition && { conditionRevision: revision, firedPeriods: [] }),
    };
    const audit = auditOfRule({ caller, clientAddress }, 'alert_rule.changed', rule, at);
    await dependencies.rules.replace(rule, previous.revision, audit);
    return withNewSecret(rule, previous.webhook);
  };

export const deleteRule =
  ({ rules, now }: Pick<RuleDependencies, 'rules' | 'now'>): Implementation<typeof operations.deleteRule> =>
  async ({ caller, clientAddress, params: { id } }) => {
    const rule = await rules.find(caller.accountId, id);
    const audit = auditOfRule({ caller, clientAddress }, 'alert_rule.deleted', rule, now().toISOString());
    await rules.remove(caller.accountId, id, audit);
    return undefined;
  };
