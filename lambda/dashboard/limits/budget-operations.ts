import * as z from 'zod/mini';
import { anyPeriodNames } from '../../domain/calendar/periods.ts';
import { budgetConfigSchema } from '../../domain/limits/limit.ts';
import { idParams } from '../../http/id-params.ts';
import { operation } from '../../http/operation.ts';
import {
  changedMembers,
  newMembers,
  previewMembers,
  previewSchema,
  shownMembers,
  shownSecret,
} from './rule-members.ts';

export * from './pause-operations.ts';

const money = (description: string) => z.int().check(z.describe(`${description}, in 1e-9 USD.`));

const state = {
  period: z
    .nullable(z.object({ name: z.enum(anyPeriodNames), start: z.iso.datetime(), end: z.iso.datetime() }))
    .check(z.describe('Null before and after a fixed period.')),
  knownNanoUsd: money('Known cost of the period, as GET /spend shows it'),
  unpricedRequests: z.int().check(z.nonnegative(), z.describe('Requests of unknown cost.')),
  usedNanoUsd: money(
    'What counts against the budget: the known cost, and requests of unknown cost if the budget counts them',
  ),
  remainingNanoUsd: money('What is left; below 0 where more was spent'),
  percentUsed: z.int().check(z.nonnegative()),
  projectedNanoUsd: z
    .nullable(z.int())
    .check(
      z.describe('What the period comes to at the current rate, in 1e-9 USD. Null where it is too early to tell.'),
    ),
  isBlocking: z.boolean().check(z.describe('Requests are refused with 429 BUDGET_EXCEEDED.')),
  bound: z
    .nullable(
      z.object({
        nanoUsd: z.nullable(z.int()).check(z.describe('In 1e-9 USD. Null where nothing was measured yet.')),
        because: z.string(),
      }),
    )
    .check(
      z.describe('What may be spent past the amount. Null where the budget refuses nothing. See docs/budgets.md.'),
    ),
  enforcedFrom: z
    .nullable(z.iso.datetime())
    .check(z.describe('Every gateway refuses requests by the budget from then on. Null where it refuses nothing.')),
  mayAlsoMatch: z
    .nullable(z.object({ requests: z.int(), costNanoUsd: z.int() }))
    .check(
      z.describe(
        'Requests counted under `(other)` that may match the filter, and are not in the sums. Null if there are none.',
      ),
    ),
};

const budgetSchema = z
  .object({ ...shownMembers, ...budgetConfigSchema.shape, state: z.object(state), ...shownSecret })
  .register(z.globalRegistry, { id: 'Budget' });

const group = 'Budgets';

export const listBudgets = operation({
  id: 'listBudgets',
  method: 'GET',
  path: '/budgets',
  group,
  summary: 'List budgets and what they have used',
  permission: 'rules:read',
  success: { status: 200, description: 'Oldest first.', schema: z.object({ items: z.array(budgetSchema) }) },
});

export const getBudget = operation({
  id: 'getBudget',
  method: 'GET',
  path: '/budgets/{id}',
  group,
  summary: 'Read a budget and what it has used',
  permission: 'rules:read',
  params: idParams,
  success: { status: 200, description: 'The budget.', schema: budgetSchema },
  errors: ['NOT_FOUND'],
});

export const createBudget = operation({
  id: 'createBudget',
  method: 'POST',
  path: '/budgets',
  group,
  summary: 'Create a budget',
  description:
    'What was spent in the current period counts. A budget that stops requests does so some seconds after it is used up: what passes in that time is its bound, see docs/budgets.md. The first such budget of an account is in force after a minute at most.',
  permission: 'rules:write',
  body: z.strictObject({ ...newMembers, ...budgetConfigSchema.shape }),
  success: { status: 201, description: 'The budget.', schema: budgetSchema },
  errors: ['LIMIT_REACHED'],
});

export const previewBudget = operation({
  id: 'previewBudget',
  method: 'POST',
  path: '/budgets/preview',
  group,
  summary: 'Preview what a budget would have done',
  description: "Judges a budget over the account's last 30 days. Nothing is stored, sent or stopped.",
  permission: 'rules:read',
  body: z.strictObject({ ...previewMembers, ...budgetConfigSchema.shape }),
  success: { status: 200, description: 'When its alerts would have been sent, oldest first.', schema: previewSchema },
});

export const updateBudget = operation({
  id: 'updateBudget',
  method: 'PATCH',
  path: '/budgets/{id}',
  group,
  summary: 'Change a budget',
  description:
    'Send only the members to change; objects are merged, a null removes a member or restores its default. Raising the amount lets requests pass again within seconds.',
  permission: 'rules:write',
  params: idParams,
  body: z.strictObject({
    ...changedMembers,
    ...(Object.fromEntries(
      Object.keys(budgetConfigSchema.shape).map((each) => [each, z.optional(z.unknown())]),
    ) as Record<keyof typeof budgetConfigSchema.shape, z.ZodMiniOptional<z.ZodMiniUnknown>>),
  }),
  success: { status: 200, description: 'The budget.', schema: budgetSchema },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const deleteBudget = operation({
  id: 'deleteBudget',
  method: 'DELETE',
  path: '/budgets/{id}',
  group,
  summary: 'Delete a budget',
  description: 'What it stopped passes again within seconds. Its alerts are kept.',
  permission: 'rules:write',
  params: idParams,
  success: { status: 204, description: 'Deleted.' },
  errors: ['NOT_FOUND'],
});
