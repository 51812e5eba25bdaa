import * as z from 'zod/mini';
import { amountSources } from '../../domain/limits/each.ts';
import { raiseSchema } from '../../domain/limits/raise.ts';
import { component, inGroup, ok } from '../../http/operation.ts';
import { count, csvFile, described, PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/parameters.ts';
import { valueParams } from './item-operations.ts';
import { shownPeriod } from './rule-members.ts';

const operation = inGroup('Budgets');

const nanoUsd = described(z.int(), 'In 1e-9 USD.');

const valueSchema = component('LimitValue', {
  value: described(z.string(), '`(none)`: the requests without a value.'),
  label: described(z.nullable(z.string()), 'Name of the member, key or project.'),
  limitNanoUsd: described(z.nullable(z.int()), 'The amount that holds, in 1e-9 USD. Null: no limit.'),
  limitSource: described(
    z.enum(amountSources),
    'Why it holds: an override of this value, the amount of its project or role, or the budget’s. `none`: requests without a value have no limit.',
  ),
  overrideUntil: described(z.nullable(z.iso.datetime()), 'When the override ends. Null: it does not.'),
  usedNanoUsd: nanoUsd,
  unpricedRequests: described(count, 'Requests of unknown cost.'),
  reservedNanoUsd: described(z.int(), 'What running requests have reserved, in 1e-9 USD.'),
  remainingNanoUsd: described(z.nullable(z.int()), 'In 1e-9 USD; below 0 where more was spent.'),
  percentUsed: z.nullable(z.int()),
  projectedNanoUsd: described(
    z.nullable(z.int()),
    'The cost of the whole period at its rate so far. Null in its first tenth, and if no part of it is known.',
  ),
  isBlocked: described(z.boolean(), 'Its requests that cost are refused with 429 BUDGET_EXCEEDED.'),
});

const isCounted = described(
  z.boolean(),
  'False while requests from before the budget was made are still being counted: some minutes after it was made.',
);

const query = {
  search: described(
    z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
    'Only values or names that contain it, in upper or lower case.',
  ),
  sort: described(z._default(z.enum(['used', 'value']), 'used'), '`used`: by the share of the amount, highest first.'),
};

export const listLimitValues = operation('listLimitValues', 'GET /budgets/{id}/values', {
  summary: 'List the values of a budget for each of a dimension',
  description: `Every value with the amount that holds for it and what its current period has used. ${PAGE_DESCRIPTION}`,
  permission: 'rules:read',
  query: z.strictObject({ ...query, ...pageParameters({ default: 50, max: 500 }) }),
  success: pageOf(valueSchema, {
    period: z.nullable(shownPeriod),
    values: described(z.int(), 'All values of the period.'),
    blockedValues: z.int(),
    usedNanoUsd: described(z.int(), 'All values together, in 1e-9 USD: as GET /spend for the filter.'),
    isCounted,
  }),
});

export const readLimitValue = operation('readLimitValue', 'GET /budgets/{id}/values/{value}', {
  summary: 'Read one value of a budget for each of a dimension',
  permission: 'rules:read',
  params: valueParams,
  success: ok('The value.', z.extend(valueSchema, { period: shownPeriod })),
});

export const listOwnLimits = operation('listOwnLimits', 'GET /own-limits', {
  summary: 'List what the caller, and each of the caller’s keys, may spend and has spent',
  description:
    'The values of budgets for each member or key that are the caller’s, and the last raise that was asked for each.',
  permission: 'rules:read',
  success: ok('Those of active budgets that have a period now.', {
    items: z.array(
      z.extend(valueSchema, {
        budgetId: z.string(),
        budgetName: z.string(),
        each: z.enum(['member', 'key']),
        period: shownPeriod,
        isCounted,
        raise: z.nullable(raiseSchema),
      }),
    ),
  }),
});

export const exportLimitValues = operation('exportLimitValues', 'GET /budgets/{id}/values/export.csv', {
  summary: 'Download the values of a budget as CSV',
  permission: 'rules:read',
  query: z.strictObject(query),
  success: csvFile('limit-values.csv'),
});
