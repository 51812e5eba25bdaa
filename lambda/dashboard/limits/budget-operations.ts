import * as z from 'zod/mini';
import { budgetConfigSchema } from '../../domain/limits/limit.ts';
import { MAX_PAUSES, pauseSchema, pauseScope } from '../../domain/limits/pauses.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { count, described, instant, name, partFor } from '../../http/parameters.ts';
import { itemOperations, valueParams } from './item-operations.ts';
import { mayMatch, newMembers, previewMembers, shownMembers, shownPeriod, shownSecret } from './rule-members.ts';

const operation = inGroup('Budgets');

const money = (description: string) => described(z.int(), `${description}, in 1e-9 USD.`);

const OF_EACH = 'Null of a budget for each of a dimension: GET /budgets/{id}/values has it for each value.';

const state = {
  period: described(z.nullable(shownPeriod), 'Null before and after a fixed period.'),
  knownNanoUsd: money('Known cost of the period, as GET /spend shows it; 2^53 - 1 where it is more'),
  unpricedRequests: described(count, 'Requests of unknown cost.'),
  usedNanoUsd: money(
    'What counts against the budget: the known cost, and requests of unknown cost if the budget counts them',
  ),
  remainingNanoUsd: described(
    z.nullable(z.int()),
    `What is left, in 1e-9 USD; below 0 where more was spent. ${OF_EACH}`,
  ),
  percentUsed: described(z.nullable(count), OF_EACH),
  projectedNanoUsd: described(
    z.nullable(z.int()),
    'What the period comes to at the current rate, in 1e-9 USD. Null if it is too early to tell, or the rate is not known.',
  ),
  isBlocking: described(z.boolean(), 'Requests are refused with 429 BUDGET_EXCEEDED.'),
  bound: described(
    z.nullable(
      z.object({
        nanoUsd: described(z.nullable(z.int()), 'In 1e-9 USD. Null where nothing was measured yet.'),
        because: z.string(),
      }),
    ),
    'What may be spent past the amount. Null where the budget refuses nothing. See docs/budgets.md.',
  ),
  enforcedFrom: described(
    z.nullable(z.iso.datetime()),
    'Every gateway refuses requests by the budget from then on. Null where it refuses nothing.',
  ),
  mayAlsoMatch: described(
    mayMatch,
    'Requests counted under `(other)` that may match the filter, and are not in the sums. Null if there are none.',
  ),
};

const budgetSchema = component('Budget', {
  ...shownMembers,
  ...budgetConfigSchema.shape,
  state: z.object(state),
  ...shownSecret,
});

export const {
  list: listBudgets,
  get: getBudget,
  create: createBudget,
  preview: previewBudget,
  update: updateBudget,
  remove: deleteBudget,
} = itemOperations({
  id: 'Budget',
  noun: 'a budget',
  group: 'Budgets',
  path: '/budgets',
  audited: 'budget',
  shown: budgetSchema,
  withSecret: budgetSchema,
  body: z.strictObject({ ...newMembers, ...budgetConfigSchema.shape }),
  preview: z.strictObject({ ...previewMembers, ...budgetConfigSchema.shape }),
  changes: Object.fromEntries(
    Object.entries(budgetConfigSchema.shape).map(([member, whole]) => [
      member,
      z.optional(partFor(whole, z.unknown())),
    ]),
  ) as Record<keyof typeof budgetConfigSchema.shape, z.ZodMiniOptional<z.ZodMiniUnknown>>,
  gives: ' and what has been used',
  creating:
    'What was spent in the current period counts. A budget that stops requests does so some seconds after it is used up: what passes in that time is its bound, see docs/budgets.md. The first such budget of an account is in force after a minute at most.',
  changing:
    'Send only the members to change; objects are merged, a null removes a member or restores its default. Raising the amount lets requests pass again within seconds.',
  deleting: 'What it stopped passes again within seconds. Its alerts are kept.',
});

const overrideSchema = component('LimitOverride', {
  amount: described(
    z.nullable(z.number().check(z.minimum(0), z.maximum(9_000_000))),
    'In USD for each period. Null: no limit. 0: every request that costs is refused.',
  ),
  until: described(z.nullable(z.iso.datetime()), 'The override ends then. Null: it has no end.'),
});

export const setLimitOverride = operation('setLimitOverride', 'PUT /budgets/{id}/values/{value}', {
  summary: 'Give one value of a budget another amount',
  description:
    'For a budget with `each`. It beats the amounts of projects and roles, and the amount of the budget. Gateways know it within 5 seconds.',
  permission: 'raises:decide',
  audits: ['budget.override_set'],
  params: valueParams,
  body: z.strictObject({
    amount: overrideSchema.shape.amount,
    until: described(
      z._default(
        z.nullable(
          z.union([instant, z.literal('period_end')], {
            error: 'must be an instant (2026-11-20T16:00:00Z), or period_end',
          }),
        ),
        null,
      ),
      'Null: it has no end. `period_end`: until the current period ends.',
    ),
  }),
  success: ok('What holds from now on.', overrideSchema),
  errors: ['CONFLICT'],
});

export const removeLimitOverride = operation('removeLimitOverride', 'DELETE /budgets/{id}/values/{value}', {
  summary: 'Give one value of a budget its usual amount again',
  permission: 'raises:decide',
  audits: ['budget.override_removed'],
  params: valueParams,
  success: { status: 204, description: 'It has the usual amount.' },
  errors: ['CONFLICT'],
});

const shownScope = Object.fromEntries(
  Object.keys(pauseScope).map((member) => [member, z.optional(z.string())]),
) as Record<keyof typeof pauseScope, z.ZodMiniOptional<z.ZodMiniString>>;

const shownPause = component('Pause', {
  id: z.string(),
  name: z.string(),
  scope: described(z.object(shownScope), 'Requests that match all of these are refused.'),
  startedAt: z.iso.datetime(),
  until: described(z.nullable(z.iso.datetime()), 'Null until somebody ends it.'),
  ruleId: described(z.nullable(z.string()), 'The rule that made it. Null if a person did.'),
});

const pauseOperation = inGroup('Pauses');

export const listPauses = pauseOperation('listPauses', 'GET /pauses', {
  summary: 'List the pauses in force',
  permission: 'rules:read',
  success: ok('Oldest first.', { items: z.array(shownPause) }),
});

export const createPause = pauseOperation('createPause', 'POST /pauses', {
  audits: ['pause.started'],
  summary: 'Pause a session, a key, a project or a tag',
  description: `Its requests get 429 PAUSED, with \`x-should-retry: false\`, and are free. Responses under way are not interrupted. Rules of the type \`burn_rate\` make pauses, too. An account has ${MAX_PAUSES} at most.`,
  permission: 'rules:write',
  body: z.strictObject({
    name: described(name(100), 'The reason. The refused client sees it.'),
    ...pauseSchema.shape,
  }),
  success: created(
    'The pause.',
    z.extend(shownPause, {
      enforcedFrom: described(
        z.iso.datetime(),
        'By then every gateway refuses: 5 seconds, a minute for the first block of an account.',
      ),
    }),
  ),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const endPause = pauseOperation('endPause', 'DELETE /pauses/{id}', {
  audits: ['pause.ended'],
  summary: 'End a pause: requests pass again within 5 seconds',
  description: 'Nobody ends a pause that stops only themselves, unless they made it or decide about raises.',
  permission: 'rules:write',
  success: { status: 204, description: 'Ended.' },
  errors: ['CONFLICT'],
});
