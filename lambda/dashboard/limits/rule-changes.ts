import { isDeepStrictEqual } from 'node:util';
import { auditsOf } from '../../data/accounts/audit-log.ts';
import type { Rule } from '../../data/alerts/rules.ts';
import { channelTypes, maskTarget, shownWebhookUrl } from '../../domain/alerts/channels.ts';
import { invalid } from '../../domain/errors.ts';
import { evaluatorOf, type RuleCondition, type TargetName, targetNames } from '../../domain/limits/rule.ts';
import { filteredBy } from '../../domain/limits/spend-series.ts';
import { declaredName, isDeclared } from '../../domain/spend/declared-dimensions.ts';
import { isRaw } from '../../domain/usage/raw.ts';
import { requireOwned, requireOwnProjects } from '../keys/member-projects.ts';
import type { Settings } from '../open-settings.ts';

/* Alert rules and budgets are created and changed alike: both are rules. */

const webhookProblem = (message: string) => invalid('webhookUrl', message);

/** Keeps the secret if the URL is unchanged, else makes a new one. */
const webhookOf = async (
  { webhookUrlProblem, newSecret }: Settings,
  { url, previous, channels }: { url: string | null; previous: Rule['webhook']; channels: Rule['channels'] },
): Promise<Rule['webhook']> => {
  if (url === null) {
    if (channels.includes('webhook')) throw webhookProblem('is required for the channel webhook');
    return null;
  }
  if (previous && (url === previous.url || url === shownWebhookUrl(previous.url))) return previous;
  const problem = await webhookUrlProblem(url);
  if (problem !== undefined) throw webhookProblem(problem);
  return { url, secret: newSecret() };
};

type TargetChanges = { readonly [Name in TargetName]?: string | null | undefined };

/** A client sends these about the channels of a rule or report. */
interface ChannelFacts {
  readonly channels: Rule['channels'];
  readonly webhookUrl?: string | null | undefined;
  readonly targets?: TargetChanges | undefined;
}

/** A null removes a target; the masked form of the previous one keeps it. */
const targetsOf = async (
  { webhookUrlProblem }: Settings,
  { changes, previous, channels }: { changes: TargetChanges; previous: Rule['targets']; channels: Rule['channels'] },
): Promise<Pick<Rule, 'targets'>> => {
  const targets: { [Name in TargetName]?: string } = { ...previous };
  for (const name of targetNames) {
    const before = previous?.[name];
    const { [name]: target } = changes;
    const problem = (message: string) => invalid(`targets.${name}`, message);
    if (target === null) delete targets[name];
    else if (target !== undefined && target !== before && target !== (before && maskTarget(before))) {
      const { targetProblem, url } = channelTypes[name];
      const message = targetProblem(target) ?? (await webhookUrlProblem(url(target)));
      if (message !== undefined) throw problem(message);
      targets[name] = target;
    }
    if (channels.includes(name) && targets[name] === undefined) throw problem(`is required for the channel ${name}`);
  }
  return Object.keys(targets).length === 0 ? {} : { targets };
};

/**
 * The channels of a rule or report, with the webhook and the targets that they need, after a change; without `previous`, of a new one.
 *
 * @throws ValidationError about a channel's target
 */
export const channelsOf = async (
  dependencies: Settings,
  sent: { readonly [Name in keyof ChannelFacts]?: ChannelFacts[Name] | undefined },
  previous: Pick<Rule, 'channels' | 'webhook' | 'targets'> = { channels: [], webhook: null },
) => {
  const channels = [...new Set(sent.channels ?? previous.channels)];
  const url = sent.webhookUrl === undefined ? (previous.webhook?.url ?? null) : sent.webhookUrl;
  return {
    channels,
    webhook: await webhookOf(dependencies, { url, previous: previous.webhook, channels }),
    ...(await targetsOf(dependencies, { changes: sent.targets ?? {}, previous: previous.targets, channels })),
  };
};

/** The audit entry of a rule or budget. Addresses and targets of channels may hold a credential, so they are left out. */
export const auditOfRule = auditsOf(
  ({ ruleId }: Rule) => ruleId,
  ({ name, channels, isActive, condition: { type, config } }) => ({
    name,
    type,
    isActive: String(isActive),
    channels: channels.join(', '),
    config: JSON.stringify(config),
  }),
);

/** A client decides these about a rule of either kind. */
export interface RuleFacts<Condition extends RuleCondition> extends ChannelFacts {
  readonly name: string;
  readonly condition: Condition;
  readonly isActive: boolean;
}

/** @throws ValidationError about a channel's target */
export const newRule = async <Condition extends RuleCondition>(
  dependencies: Settings,
  accountId: string,
  { name, condition, isActive, ...channels }: RuleFacts<Condition>,
): Promise<Rule<Condition>> => {
  const at = dependencies.now().toISOString();
  return {
    ruleId: dependencies.newId(),
    accountId,
    name,
    condition,
    isActive,
    ...(await channelsOf(dependencies, channels)),
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
 * @throws ValidationError about a channel's target
 */
export const changedRule = async <Condition extends RuleCondition>(
  dependencies: Settings,
  previous: Rule<Condition>,
  patch: { readonly [Name in keyof RuleFacts<Condition>]?: RuleFacts<Condition>[Name] | undefined },
): Promise<Rule<Condition> | undefined> => {
  const condition = patch.condition ?? previous.condition;
  const isActive = patch.isActive ?? previous.isActive;
  const channels = await channelsOf(dependencies, patch, previous);
  const { targets: _, ...others } = previous;
  const name = patch.name ?? previous.name;
  const patched = { ...others, name, condition, isActive, ...channels };
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

/** A JSON merge patch. @see https://www.rfc-editor.org/rfc/rfc7396 */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isRaw(patch)) return patch;
  const merged = new Map(isRaw(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};

/** @throws ValidationError where one of the names is a dimension that the account has not declared */
export const requireDeclared = async (
  { findDeclared }: Pick<Settings, 'findDeclared'>,
  accountId: string,
  names: readonly string[],
  path: string,
): Promise<void> => {
  const wanted = names.filter((name) => name.startsWith('dim:'));
  if (wanted.length === 0) return;
  const declared = (await findDeclared(accountId)).filter(isDeclared);
  const unknown = wanted.find((wantedName) => !declared.some(({ name }) => declaredName(name) === wantedName));
  if (unknown !== undefined)
    throw invalid(path, `${unknown.slice('dim:'.length)} is not a dimension of the account: declare it first`);
};

/** @throws ValidationError where one of the users is no member */
export const requireMembers = async (
  { users }: Pick<Settings, 'users'>,
  accountId: string,
  wanted: readonly string[],
  path: string,
): Promise<void> => {
  if (wanted.length === 0) return;
  const members = (await users.recipients(accountId)).map(({ userId }) => userId);
  const stranger = wanted.find((each) => !members.includes(each));
  if (stranger !== undefined) throw invalid(path, `${stranger} is not a member of the account`);
};

/** @throws ValidationError where the filter names a key, project, member or dimension that the account does not have: the rule would never fire */
export const requireKnown = async (settings: Settings, accountId: string, condition: RuleCondition): Promise<void> => {
  const { filter, limit } = evaluatorOf(condition);
  const path = condition.type === 'budget' ? 'filter.' : 'config.filter.';
  const { project, member, keyId } = filter ?? {};
  await requireOwned(settings, accountId, { key: keyId, project }, path);
  await requireOwnProjects(
    settings.projects,
    accountId,
    Object.keys(limit?.amountsOf?.project ?? {}),
    'amountByProject',
  );
  await requireMembers(settings, accountId, member === undefined ? [] : [member], `${path}member`);
  // The values of a limit of each are counted for themselves: its dimension need not be declared.
  await requireDeclared(settings, accountId, filteredBy(filter), `${path}dim`);
};
