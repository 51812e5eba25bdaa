import * as z from 'zod/mini';
import { ruleTypes, withCondition } from '../../domain/limits/rule.ts';
import { component, inGroup } from '../../http/operation.ts';
import { described, partFor } from '../../http/parameters.ts';
import { itemOperations } from './item-operations.ts';
import { channelResults, newMembers, previewMembers, shownMembers, shownSecret } from './rule-members.ts';

const body = withCondition(newMembers);
const config = z.union(body.def.options.map(({ shape }) => shape.config));

const rule = {
  ...shownMembers,
  type: z.enum(ruleTypes),
  config: described(z.record(z.string(), z.unknown()), 'Depends on the type, see POST /alert-rules.'),
};

const ruleSchema = component('AlertRule', rule);

const ruleWithSecretSchema = component('AlertRuleWithSecret', { ...rule, ...shownSecret });

const operation = inGroup('Alert rules');

export const {
  list: listRules,
  get: getRule,
  create: createRule,
  preview: previewRule,
  update: updateRule,
  remove: deleteRule,
} = itemOperations({
  id: 'AlertRule',
  noun: 'an alert rule',
  group: 'Alert rules',
  path: '/alert-rules',
  audited: 'alert_rule',
  shown: ruleSchema,
  withSecret: ruleWithSecretSchema,
  body,
  preview: withCondition(previewMembers),
  changes: { config: z.optional(partFor(config, z.record(z.string().check(z.maxLength(64)), z.unknown()))) },
  gives: '',
  creating:
    'A rule fires at most once per period, on all its channels; a budget once with a forecast, and once when it is used up. Periods are calendar hours, days, weeks (from Monday) and months in UTC. If the current period is already over the limit, the rule fires at once.',
  changing:
    'Send only the members to change. `config` is merged into the existing one, its `filter` too (RFC 7396): a null removes a member. A `pause` is replaced. A rule that has fired in a period fires again in it only if its `config` changed.',
  deleting: 'Its alerts are kept.',
});

export const testRule = operation('testAlertRule', 'POST /alert-rules/{id}/test', {
  audits: 'Sends what the rule would, and changes nothing.',
  summary: 'Send a test message on the channels of a rule or budget',
  description:
    'Posts a message that says it is a test to each channel but `email`, once, and waits for the response. PagerDuty opens an incident; further tests of the rule join it.',
  permission: 'rules:write',
  rateLimits: { perAccount: { requests: 10, minutes: 10 } },
  success: channelResults('Why it was not delivered.'),
});
