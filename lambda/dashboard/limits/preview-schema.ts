import * as z from 'zod/mini';
import { alertSchema } from '../../domain/alerts/alert.ts';
import { anyPeriodNames } from '../../domain/calendar/periods.ts';
import { budgetEvents } from '../../domain/limits/evaluator.ts';

const unit = z.enum(['nanoUsd', 'percent', 'requests']);

/** What a rule or budget would have done in the last 30 days. */
export const previewSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  periods: z.int().check(z.nonnegative(), z.describe('Number of periods evaluated.')),
  requests: z
    .int()
    .check(
      z.nonnegative(),
      z.describe('Requests in this time that the filter matches. 0: the rule had nothing to judge.'),
    ),
  mayAlsoMatch: z
    .nullable(z.object({ requests: z.int(), costNanoUsd: z.int() }))
    .check(
      z.describe(
        'Requests counted under `(other)`, or recorded before the dimension was declared, that may match the filter, and were not evaluated. Null if there are none. From some minutes after a rule is active, its names keep counters of their own.',
      ),
    ),
  unjudgedPeriods: z
    .int()
    .check(
      z.nonnegative(),
      z.describe(
        'Of them, those with too little history to compare with, or with too few requests, for the rule to fire.',
      ),
    ),
  stoppedNanoUsd: z
    .nullable(z.int())
    .check(
      z.describe(
        'The spend that it would have stopped, in 1e-9 USD: a budget with a block, or pauses. Null if it stops nothing.',
      ),
    ),
  firings: z.array(
    z.object({
      period: z.object({ name: z.enum(anyPeriodNames), start: z.iso.datetime(), end: z.iso.datetime() }),
      by: z.iso
        .datetime()
        .check(z.describe('It would have fired by this time: the end of an hour or day, as precise as spend is kept.')),
      event: z.nullable(z.enum(budgetEvents)),
      of: z.nullable(alertSchema.shape.of.def.innerType),
      stoppedNanoUsd: z
        .nullable(z.int())
        .check(z.describe('The spend that its pause would have stopped, in 1e-9 USD.')),
      isBrief: z
        .nullable(z.boolean())
        .check(
          z.describe(
            'The next hour was below the limit again: most likely a false alarm. Null of rules that judge no values.',
          ),
        ),
      unit,
      observed: z.number().check(z.describe('The value at that time.')),
      limit: z.number(),
      unpricedRequests: z.int().check(z.nonnegative()),
      summary: z.string(),
    }),
  ),
  unit: z.nullable(unit).check(z.describe('Of the points. Null where there was too little to judge by.')),
  points: z
    .array(
      z.object({
        time: z.string().check(z.describe('The hour or day, UTC.')),
        observed: z
          .nullable(z.number())
          .check(
            z.describe(
              'What the rule saw by its end: since its period began; of a forecast, the forecast; of a rule that judges values, the highest. Null where there was too little to judge by.',
            ),
          ),
        limit: z.nullable(z.number()),
        usual: z.nullable(z.number()).check(z.describe('The median that the limit comes from. Null of most rules.')),
        fired: z.boolean(),
      }),
    )
    .check(z.describe('Each hour or day, without gaps.')),
});
