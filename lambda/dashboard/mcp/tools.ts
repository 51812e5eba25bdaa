import * as z from 'zod/mini';
import { NotFoundError } from '../../domain/errors.ts';
import { spendChange } from '../../domain/spend/spend-change.ts';
import { type Implementation, type Input, type Operation, type Route, route } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import { dayOrInstant } from '../../http/time-parameters.ts';
import { readSpend as readSpendOperation } from '../spend/operations.ts';
import { spendQuery } from '../spend/spend-query.ts';

/** A question that an agent can ask: an operation of the API that reads, under a name of its own. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly route: Route;
  /** What of the output is shown, where not all of it. @param asked the arguments as they were sent */
  readonly view?: (output: never, asked: Readonly<Record<string, unknown>>) => unknown;
}

type ReadSpend = Implementation<typeof readSpendOperation>;

/** Groups of either period that are compared. */
const MAX_COMPARED = 1_000;

const changeQuery = z.extend(z.omit(spendQuery, { granularity: true, limit: true }), {
  groupBy: z._default(spendQuery.shape.groupBy.def.innerType, ['model']),
  compareFrom: z.optional(
    dayOrInstant.check(
      z.describe('First day or instant of the period before. Default: the range of the same length before.'),
    ),
  ),
  compareTo: z.optional(
    dayOrInstant.check(z.describe('Last day (inclusive) or instant (exclusive) of the period before.')),
  ),
  limit: z
    ._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(100)), 10)
    .check(z.describe('Maximum number of groups in the response.')),
});

const readSpendChange = {
  ...readSpendOperation,
  query: changeQuery,
  success: { ...readSpendOperation.success, schema: z.unknown() },
};

/** Two reports by the function of GET /spend, and their differences. */
const compareSpend =
  (readSpend: ReadSpend): Implementation<typeof readSpendChange> =>
  async ({ query: { compareFrom, compareTo, limit, ...query }, ...input }) => {
    const read = (range: { readonly from?: string | undefined; readonly to?: string | undefined }) =>
      readSpend({ ...input, query: { ...query, ...range, granularity: 'day', limit: MAX_COMPARED } });
    const now = await read({});
    const range = compareFrom === undefined ? now.previous : { from: compareFrom, to: compareTo ?? now.from };
    if (range === null)
      throw new NotFoundError('The range before is not kept, or its sum is too large. Name another with compareFrom.');
    const before = await read({ from: range.from, to: range.to });
    const { totals, groups } = spendChange(
      before,
      now,
      ({ provider, model, tag, key, project, providerKey, client, dim }) => ({
        provider,
        model,
        tag,
        key,
        project,
        providerKey,
        client,
        dim,
      }),
    );
    return {
      from: now.from,
      to: now.to,
      before: { from: before.from, to: before.to },
      totals,
      groups: groups.slice(0, limit),
      furtherGroups: Math.max(0, groups.length - limit),
      isComplete: now.isComplete && before.isComplete && now.otherGroups === null && before.otherGroups === null,
    };
  };

/** What spend is, and why it changed. */
export const spendTools = (readSpend: ReadSpend): Tool[] => [
  {
    name: 'spend',
    description:
      'What was spent in a range of time (default: this month so far), in total and by group: provider, model, tag, key, project, client, or a declared dimension such as dim:team. Name a granularity to get a series as well.',
    route: route(readSpendOperation, readSpend),
    view: ({ series, ...report }: { readonly series: unknown }, { granularity }) =>
      granularity === undefined ? report : { ...report, series },
  },
  {
    name: 'spend_change',
    description:
      'Why spend changed: the cost of a range (default: this month so far) and of the one before, and which groups made the difference, the largest first.',
    route: route(readSpendChange, compareSpend(readSpend)),
  },
];

const argumentsOf = ({ params, query }: Operation) => z.strictObject({ ...params?.shape, ...query?.shape });

/** JSON Schema of a tool's arguments: the parameters of its operation. */
export const argumentSchema = ({ route: { operation } }: Tool) => {
  const { $schema: _, ...schema } = z.toJSONSchema(argumentsOf(operation), { io: 'input' });
  return schema as { type: 'object'; properties?: Record<string, object> };
};

/**
 * Runs a tool as the API runs its operation: parsed by its schemas on the way in and out.
 *
 * @throws DomainError
 */
export const runTool = async (
  { route: { operation, run }, view }: Tool,
  asked: Readonly<Record<string, unknown>>,
  input: Pick<Input<Operation>, 'caller' | 'requestId'>,
): Promise<unknown> => {
  const parsed = Object.entries(parseWith(argumentsOf(operation), asked));
  const isParameter = ([name]: [string, unknown]) => name in (operation.params?.shape ?? {});
  const output = await run({
    ...input,
    authorization: undefined,
    body: undefined,
    params: Object.fromEntries(parsed.filter(isParameter)),
    query: Object.fromEntries(parsed.filter((entry) => !isParameter(entry))),
  } as unknown as Input<Operation>);
  const checked = operation.success.schema?.parse(output);
  return view ? view(checked as never, asked) : checked;
};
