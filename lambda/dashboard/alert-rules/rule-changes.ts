import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { uuidv7 } from 'uuidv7';
import type { Rule } from '../../data/alerts/rules.ts';
import type { RuleCondition } from '../../domain/alert-rules/rule.ts';
import { ValidationError } from '../../domain/errors.ts';
import { webhookUrlProblem } from '../../integrations/webhook.ts';

/* What creating and changing alert rules and budgets have in common: both are rules. */

export interface RuleChangeDependencies {
  /** The problem with a webhook URL; undefined if there is none. */
  readonly webhookUrlProblem: (url: string) => Promise<string | undefined>;
  readonly newRuleId: () => string;
  readonly newSecret: () => string;
  readonly now: () => Date;
}

/** What handlers of rules give to it. */
export const ruleChanges: RuleChangeDependencies = {
  webhookUrlProblem: (url) => webhookUrlProblem(url),
  newRuleId: uuidv7,
  newSecret: () => `whsec_${randomBytes(32).toString('base64url')}`,
  now: () => new Date(),
};

const webhookProblem = (message: string) => new ValidationError([{ path: 'webhookUrl', message }]);

/** The webhook of a rule. Keeps the secret if the URL is unchanged, else makes a new one. */
const webhookOf = async (
  { webhookUrlProblem, newSecret }: Pick<RuleChangeDependencies, 'webhookUrlProblem' | 'newSecret'>,
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

/** What a client decides about a rule of either kind. */
export interface RuleFacts<Condition extends RuleCondition> {
  readonly name: string;
  readonly condition: Condition;
  readonly channels: Rule['channels'];
  readonly isActive: boolean;
  readonly webhookUrl?: string | null | undefined;
}

/** @throws ValidationError about the webhook's URL */
export const newRule = async <Condition extends RuleCondition>(
  dependencies: RuleChangeDependencies,
  accountId: string,
  { name, condition, channels, isActive, webhookUrl }: RuleFacts<Condition>,
): Promise<Rule<Condition>> => {
  const at = dependencies.now().toISOString();
  return {
    ruleId: dependencies.newRuleId(),
    accountId,
    name,
    condition,
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
};

/**
 * A rule with some facts changed, as its next revision; undefined where nothing changes.
 *
 * @throws ValidationError about the webhook's URL
 */
export const changedRule = async <Condition extends RuleCondition>(
  dependencies: RuleChangeDependencies,
  previous: Rule<Condition>,
  patch: { readonly [Name in keyof RuleFacts<Condition>]?: RuleFacts<Condition>[Name] | undefined },
): Promise<Rule<Condition> | undefined> => {
  const channels = patch.channels ? [...new Set(patch.channels)] : previous.channels;
  const condition = patch.condition ?? previous.condition;
  const isActive = patch.isActive ?? previous.isActive;
  const webhook = await webhookOf(dependencies, {
    url: patch.webhookUrl === undefined ? (previous.webhook?.url ?? null) : patch.webhookUrl,
    previous: previous.webhook,
    channels,
  });
  const patched = { ...previous, name: patch.name ?? previous.name, condition, channels, isActive, webhook };
  if (isDeepStrictEqual(patched, previous)) return undefined;
  const at = dependencies.now().toISOString();
  const isNewCondition = !isDeepStrictEqual(condition, previous.condition);
  const revision = previous.revision + 1;
  return {
    ...patched,
    updatedAt: at,
    effectiveFrom: isNewCondition || (isActive && !previous.isActive) ? at : previous.effectiveFrom,
    revision,
    ...(isNewCondition && { conditionRevision: revision, firedPeriods: [] }),
  };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON merge patch. @see https://www.rfc-editor.org/rfc/rfc7396 */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};
