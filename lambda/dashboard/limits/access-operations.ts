import * as z from 'zod/mini';
import { accessRuleMembers, accessRuleWith, MAX_ACCESS_RULES } from '../../domain/limits/access-rules.ts';
import { was } from '../../http/as-read.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, name } from '../../http/parameters.ts';

const operation = inGroup('Access rules');

const { scope, allowed, denied, maxRequestUsd } = accessRuleMembers;
const named = described(name(100), 'The refused client sees it.');

const accessRule = component('AccessRule', {
  id: z.string(),
  name: z.string(),
  scope: scope.def.innerType,
  // Earlier versions took patterns with any provider.
  allowed: z.nullable(z.array(z.string())),
  denied: z.array(z.string()),
  maxRequestUsd: maxRequestUsd.def.innerType,
  createdAt: z.iso.datetime(),
});

const enforcedFrom = described(z.iso.datetime(), 'By then every gateway judges requests by it.');
const withStart = z.extend(accessRule, { enforcedFrom }).register(z.globalRegistry, { id: 'AccessRuleWithStart' });

export const listAccessRules = operation('listAccessRules', 'GET /access-rules', {
  summary: 'List what keys may call',
  permission: 'keys:read',
  success: ok('Oldest first.', { items: z.array(accessRule) }),
});

export const createAccessRule = operation('createAccessRule', 'POST /access-rules', {
  audits: ['access_rule.created'],
  summary: 'Set what keys may call',
  description: `Every rule of a key must let its request pass. What does not gets 403 MODEL_NOT_ALLOWED with what is allowed, and is free. An account has ${MAX_ACCESS_RULES} at most.`,
  permission: 'keys:write-all',
  body: accessRuleWith({ name: named }),
  success: created('The rule.', withStart),
  errors: ['NOT_FOUND', 'LIMIT_REACHED', 'CONFLICT'],
});

export const updateAccessRule = operation('updateAccessRule', 'PATCH /access-rules/{id}', {
  audits: ['access_rule.changed'],
  summary: 'Change what keys may call',
  description: 'Send only the members to change; each replaces what was there.',
  permission: 'keys:write-all',
  body: z.strictObject({
    name: z.optional(named),
    scope: z.optional(scope.def.innerType),
    allowed: z.optional(allowed.def.innerType),
    denied: z.optional(denied.def.innerType),
    maxRequestUsd: z.optional(maxRequestUsd.def.innerType),
    was,
  }),
  success: ok('The rule.', withStart),
  errors: ['CONFLICT'],
});

export const deleteAccessRule = operation('deleteAccessRule', 'DELETE /access-rules/{id}', {
  audits: ['access_rule.deleted'],
  summary: 'Delete an access rule: what it refused passes again within 5 seconds',
  permission: 'keys:write-all',
  success: { status: 204, description: 'Deleted.' },
  errors: ['CONFLICT'],
});
