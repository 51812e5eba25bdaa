import * as z from 'zod/mini';
import { ruleTypes, withCondition } from '../../domain/limits/rule.ts';
import { idParams } from '../../http/id-params.ts';
import { operation } from '../../http/operation.ts';
import {
  changedMembers,
  channelResults,
  newMembers,
  previewMembers,
  previewSchema,
  shownMembers,
  shownSecret,
} from './rule-members.ts';

const rule = {
  ...shownMembers,
  type: z.enum(ruleTypes),
  config: z.record(z.string(), z.unknown()).check(z.describe('Depends on the type, see POST /alert-rules.')),
};

const ruleSchema = z.object(rule).register(z.globalRegistry, { id: 'AlertRule' });

const ruleWithSecretSchema = z
  .object({ ...rule, ...shownSecret })
  .register(z.globalRegistry, { id: 'AlertRuleWithSecret' });

const group = 'Alert rules';

export const listRules = operation({
  id: 'listAlertRules',
  method: 'GET',
  path: '/alert-rules',
  group,
  summary: 'List alert rules',
  permission: 'rules:read',
  success: { status: 200, description: 'Oldest first.', schema: z.object({ items: z.array(ruleSchema) }) },
});

export const getRule = operation({
  id: 'getAlertRule',
  method: 'GET',
  path: '/alert-rules/{id}',
  group,
  summary: 'Get an alert rule',
  permission: 'rules:read',
  params: idParams,
  success: { status: 200, description: 'The rule.', schema: ruleSchema },
  errors: ['NOT_FOUND'],
});

export const createRule = operation({
  id: 'createAlertRule',
  method: 'POST',
  path: '/alert-rules',
  group,
  summary: 'Create an alert rule',
  description:
    'A rule fires at most once per period, on all its channels; a budget once with a forecast, and once when it is used up. Periods are calendar hours, days, weeks (from Monday) and months in UTC. If the current period is already over the limit, the rule fires at once.',
  permission: 'rules:write',
  body: withCondition(newMembers),
  success: { status: 201, description: 'The rule.', schema: ruleWithSecretSchema },
  errors: ['LIMIT_REACHED'],
});

export const previewRule = operation({
  id: 'previewAlertRule',
  method: 'POST',
  path: '/alert-rules/preview',
  group,
  summary: 'Preview when a rule would have fired',
  description: "Evaluates a rule over the account's last 30 days. Nothing is stored or sent.",
  permission: 'rules:read',
  body: withCondition(previewMembers),
  success: {
    status: 200,
    description: 'When it would have fired, oldest first.',
    schema: previewSchema,
  },
});

export const updateRule = operation({
  id: 'updateAlertRule',
  method: 'PATCH',
  path: '/alert-rules/{id}',
  group,
  summary: 'Change an alert rule',
  description:
    'Send only the members to change. `config` is merged into the existing one, its `filter` too (RFC 7396): a null removes a member. A `pause` is replaced. A rule that has fired in a period fires again in it only if its `config` changed.',
  permission: 'rules:write',
  params: idParams,
  body: z.strictObject({
    ...changedMembers,
    config: z.optional(z.record(z.string().check(z.maxLength(64)), z.unknown())),
  }),
  success: { status: 200, description: 'The updated rule.', schema: ruleWithSecretSchema },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const testRule = operation({
  id: 'testAlertRule',
  method: 'POST',
  path: '/alert-rules/{id}/test',
  group,
  summary: 'Send a test message on the channels of a rule or budget',
  description:
    'Posts a message that says it is a test to each channel but `email`, once, and waits for the response. PagerDuty opens an incident; further tests of the rule join it.',
  permission: 'rules:write',
  rateLimits: { perAccount: { requests: 10, minutes: 10 } },
  params: idParams,
  success: channelResults('Why it was not delivered.'),
  errors: ['NOT_FOUND'],
});

export const deleteRule = operation({
  id: 'deleteAlertRule',
  method: 'DELETE',
  path: '/alert-rules/{id}',
  group,
  summary: 'Delete an alert rule',
  description: 'Its alerts are kept.',
  permission: 'rules:write',
  params: idParams,
  success: { status: 204, description: 'Deleted.' },
  errors: ['NOT_FOUND'],
});
