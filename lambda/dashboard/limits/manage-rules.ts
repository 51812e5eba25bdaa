import type { Rule } from '../../data/alerts/rules.ts';
import { type AlertCondition, ruleConditionSchema } from '../../domain/limits/rule.ts';
import { parseWith } from '../../http/parse-request.ts';
import { writePolicy } from './block-policy.ts';
import { itemsOf } from './manage-items.ts';
import { mergePatch } from './rule-changes.ts';
import { membersOf } from './rule-members.ts';

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

export const {
  list: listRules,
  get: getRule,
  create: createRule,
  preview: previewRule,
  update: updateRule,
  remove: deleteRule,
} = itemsOf(
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
