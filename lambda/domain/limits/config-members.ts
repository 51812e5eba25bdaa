import * as z from 'zod/mini';
import { hostLabel } from '../host-label.ts';
import { DIMENSION_NAME, DIMENSION_NAME_RULE, declaredName } from '../spend/declared-dimensions.ts';
import { combinationProblem, type SpendDimensionName } from '../spend/dimensions.ts';
import {
  MAX_CLIENT_CHARACTERS,
  MAX_METADATA_CHARACTERS,
  MAX_MODEL_CHARACTERS,
  MAX_TAG_CHARACTERS,
} from '../usage/limits.ts';
import { filteredBy, type RuleFilter } from './spend-series.ts';

/** An amount in USD, at least a millionth: the ledger counts in nano-USD. */
export const usdAmount = z.number().check(z.minimum(0.000001), z.maximum(9_000_000));

/** A value that requests are chosen by. */
export const chosen = (characters: number, description?: string) =>
  z.optional(
    z.string().check(z.minLength(1), z.maxLength(characters), z.meta(description === undefined ? {} : { description })),
  );

const MAX_ID_CHARACTERS = 64;
export const chosenId = (description: string) => chosen(MAX_ID_CHARACTERS, description);

const declaredValue = z
  .record(
    z.string().check(z.regex(DIMENSION_NAME, DIMENSION_NAME_RULE)),
    z.string().check(z.minLength(1), z.maxLength(2 * MAX_METADATA_CHARACTERS)),
  )
  .check(
    z.refine((values) => Object.keys(values).length === 1, 'must have one dimension'),
    z.describe('A value of one declared dimension: `{"team": "search"}`. See PUT /dimensions.'),
  );

const filterMembers = z.strictObject({
  provider: z.optional(hostLabel),
  model: chosen(MAX_MODEL_CHARACTERS, 'As GET /spend?groupBy=model names it.'),
  tag: chosen(MAX_TAG_CHARACTERS),
  key: chosenId('Id of a service key, see GET /keys.'),
  project: chosenId('Id of a project, see GET /projects: the keys that it has when the rule is judged.'),
  member: chosenId('User id of a member, see GET /members: the keys of that member.'),
  client: chosen(MAX_CLIENT_CHARACTERS, 'As GET /spend?groupBy=client names it.'),
  dim: z.optional(declaredValue),
});

type FilterMembers = z.infer<typeof filterMembers>;

/** A filter as a rule's config has it, by the names of dimensions. */
export const ruleFilterOf = ({ key, dim = {}, ...others }: FilterMembers): RuleFilter => {
  const values: [SpendDimensionName, string | undefined][] = [
    ...(Object.entries(others) as [SpendDimensionName, string | undefined][]),
    ['keyId', key],
    ...Object.entries(dim).map(([name, value]): [SpendDimensionName, string] => [declaredName(name), value]),
  ];
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
};

const problemOf = (members: FilterMembers): string | undefined => combinationProblem(filteredBy(ruleFilterOf(members)));

const filter = filterMembers.check(
  z.refine((members) => problemOf(members) === undefined, {
    error: ({ input }) => problemOf(input as FilterMembers),
  }),
  z.describe(
    'Only requests that match all of these count. Without a filter, all requests count. `client` and `dim` combine with `provider`, `model`, `key` and `project`.',
  ),
);

/** A rule's filter; absent where it counts all requests. */
export const ruleFilter = z.optional(filter);

/** The filter of a stored rule's config, as far as this version knows its members. */
export const storedRuleFilter = z.object(filterMembers.shape);

export const minimumRequests = z.int().check(z.minimum(1), z.maximum(1_000_000));
