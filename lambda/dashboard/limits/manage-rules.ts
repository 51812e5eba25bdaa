import type { Rule } from '../../data/alerts/rules.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { triggeredAlert } from '../../domain/alerts/alert.ts';
import { alertLinks, alertMessage } from '../../domain/alerts/alert-text.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { invalid, NotFoundError, orUndefined } from '../../domain/errors.ts';
import { type AlertCondition, isRuleIn, ruleConditionSchema } from '../../domain/limits/rule.ts';
import type { Implementations } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import { postMessage, resultOf } from '../../integrations/channels.ts';
import type { Settings } from '../open-settings.ts';
import { writePolicy } from './block-policy.ts';
import { itemsOf } from './manage-items.ts';
import { mergePatch } from './rule-changes.ts';
import { membersOf } from './rule-members.ts';
import type * as operations from './rule-operations.ts';

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

const items = itemsOf(
  {
    noun: 'alert rule',
    audited: 'alert_rule',
    // Budgets are rules, too, with an API of their own.
    isOne: (rule): rule is Rule<AlertCondition> => rule.condition.type !== 'budget',
    show: async (_: object, __, rules: readonly Rule<AlertCondition>[]) =>
      rules.map((rule) => ({
        ...membersOf(rule),
        type: rule.condition.type,
        config: { ...rule.condition.config },
      })),
    conditionOf: (condition) => condition as AlertCondition,
    patched: (previous, { config }: { readonly config?: Record<string, unknown> }) =>
      config && patchCondition(previous, config),
  },
  // Rules that pause are judged at once, and the gateway reads the blocks of accounts that have some.
  async (dependencies, { accountId, condition }) => {
    if (condition.type === 'burn_rate') await writePolicy(dependencies, accountId);
  },
);

export const listRules = items.list;

export const manageRules = (settings: Settings): Implementations<typeof operations> => ({
  listRules: listRules(settings),
  getRule: items.get(settings),
  createRule: items.create(settings),
  previewRule: items.preview(settings),
  updateRule: items.update(settings),
  deleteRule: items.remove(settings),

  /** Posts a test message on the channels of a rule or budget. Nothing is stored. */
  testRule: async ({ caller, params: { id } }) => {
    const { rules, postWebhook, dashboardUrl, now } = settings;
    const { accountId } = caller;
    const rule = await orUndefined(rules.find(accountId, id));
    if (!rule || !isRuleIn(scopeOf(caller).sees, rule.condition)) throw new NotFoundError('There is no such rule.');
    const channels = rule.channels.filter((channel) => channel !== 'email');
    if (channels.length === 0) throw invalid('id', 'must be a rule with a channel other than email');
    const at = now();
    const today = `${dayOf(at.toISOString())}T00:00:00.000Z`;
    const alert = triggeredAlert(
      {
        alertId: `test-${id}`,
        accountId,
        ruleId: id,
        ruleName: rule.name,
        type: rule.condition.type,
        event: null,
        triggeredAt: at.toISOString(),
        period: { name: 'daily', start: today, end: new Date(Date.parse(today) + DAY_MS).toISOString() },
        unit: 'nanoUsd',
        figure: 0,
        limit: 0,
        unpricedRequests: 0,
        summary: 'This is a test of the channel. Nothing has happened.',
        contributors: [],
      },
      [],
    );
    const links = { ...alertLinks(dashboardUrl, alert, rule.condition), alert: `${dashboardUrl}/limits/${id}` };
    const message = alertMessage(alert, links);
    const sent = channels.map((channel) => resultOf(channel, postMessage(postWebhook, rule, channel, message, at)));
    return { items: await Promise.all(sent) };
  },
});
