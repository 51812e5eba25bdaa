import * as z from 'zod/mini';
import { DIMENSION_NAME, DIMENSION_NAME_RULE, MAX_DECLARED } from '../../domain/spend/declared-dimensions.ts';
import { component, inGroup, ok } from '../../http/operation.ts';
import { described } from '../../http/parameters.ts';

const name = z.string().check(z.regex(DIMENSION_NAME, DIMENSION_NAME_RULE), z.meta({ examples: ['team'] }));

const dimensions = component('Dimensions', {
  items: described(
    z.array(
      z.object({
        name,
        isDeclared: z.boolean(),
        periods: described(
          z.array(
            z.object({
              from: z.iso.datetime(),
              until: described(z.nullable(z.iso.datetime()), 'Null while it is declared.'),
            }),
          ),
          'When it was declared. Requests that began at other times are `(unknown)` in it.',
        ),
      }),
    ),
    'Those that are declared, then those that were, each by name.',
  ),
  limit: described(z.int().check(z.positive()), 'How many names an account may declare at a time.'),
});

const operation = inGroup('Spend');

export const listDimensions = operation('listDimensions', 'GET /dimensions', {
  summary: 'List the metadata names that are dimensions of spend',
  permission: 'spend:read',
  success: ok('What is, or was, declared.', dimensions),
});

export const declareDimensions = operation('declareDimensions', 'PUT /dimensions', {
  audits: ['dimensions.declared'],
  summary: 'Declare metadata names as dimensions of spend',
  description:
    'Names of X-Service-Metadata, all at once: a name that is missing is not a dimension any more. Spend is split by a name for requests that begin from now on; a recorder may learn of it up to a minute later. What was counted under a name stays readable after it is removed, and goes on where it is declared again. Each name adds one counter to what a request writes.',
  permission: 'dimensions:write',
  body: z.strictObject({
    names: described(
      z.array(name).check(
        z.maxLength(MAX_DECLARED),
        z.refine((names) => new Set(names).size === names.length, 'must not have a name twice'),
      ),
      'As they are sent, upper and lower case differ.',
    ),
  }),
  success: ok('What is, or was, declared.', dimensions),
  errors: ['CONFLICT'],
});
