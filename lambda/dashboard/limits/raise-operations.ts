import * as z from 'zod/mini';
import { RAISE_DAYS, RAISE_KEPT_DAYS, raiseAsk, raiseDecision, raiseSchema } from '../../domain/limits/raise.ts';
import { created, inGroup, ok } from '../../http/operation.ts';
import { described } from '../../http/parameters.ts';
import { valueParams } from './item-operations.ts';

const operation = inGroup('Budgets');

export const askForRaise = operation('askForRaise', 'POST /budgets/{id}/values/{value}/raises', {
  audits: ['raise.asked'],
  summary: 'Ask that one value of a budget may have more',
  description: `Owners and admins get a mail, and so do the budget’s channels. They decide within ${RAISE_DAYS} days. A value has one raise at a time. Who sees a part of the account asks for what is in it, for projects in which they have a key, and for sessions of their keys.`,
  permission: 'self:write',
  params: valueParams,
  body: raiseAsk,
  rateLimits: { perAccount: { requests: 100, minutes: 60 } },
  success: created(
    'It waits for a decision.',
    z.extend(raiseSchema, {
      sentBy: described(z.array(z.string()), 'The channels that reached those who may decide.'),
    }),
  ),
  errors: ['CONFLICT'],
});

export const listRaises = operation('listRaises', 'GET /raises', {
  summary: 'List what members ask for beyond their limits',
  description: 'Who sees a part of the account sees those they asked for.',
  permission: 'rules:read',
  success: ok(`Newest first, for ${RAISE_KEPT_DAYS} days.`, { items: z.array(raiseSchema) }),
});

export const decideRaise = operation('decideRaise', 'PATCH /raises/{id}', {
  audits: ['raise.approved', 'raise.denied', 'budget.override_set'],
  summary: 'Approve or deny what a member asks for',
  description:
    'An approval is an override of the value, which gateways know within 5 seconds. Nobody approves what they asked for, or what is for themselves. Who asked gets a mail.',
  permission: 'raises:decide',
  body: raiseDecision,
  success: ok('The decision.', raiseSchema),
  errors: ['CONFLICT'],
});
