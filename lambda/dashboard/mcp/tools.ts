import * as z from 'zod/mini';
import { type Input, type Operation, type Route, route } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import type { openSpendReads } from '../open-spend-reads.ts';
import * as spend from '../spend/operations.ts';

/** A question that an agent can ask: an operation of the API that reads, under a name of its own. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly route: Route;
  /** The part of the output that is shown, where not all of it. @param asked the arguments as they were sent */
  readonly view?: (output: never, asked: Readonly<Record<string, unknown>>) => unknown;
}

const { limit, ...changeParameters } = spend.compareSpend.query.shape;
/** With few groups, as an agent reads them all. */
const compareSpendBriefly = {
  ...spend.compareSpend,
  query: z.strictObject({ ...changeParameters, limit: z._default(limit.def.innerType, 10) }),
};

/** Spend, and why it changed. */
export const spendTools = ({
  readSpend,
  compareSpend,
}: Pick<ReturnType<typeof openSpendReads>, 'readSpend' | 'compareSpend'>): Tool[] => [
  {
    name: 'spend',
    description:
      'What was spent between any two hours (default: this month so far), in total and by group: provider, model, tag, key, project, client, or a declared dimension such as dim:team. Name a granularity to get a series as well.',
    route: route(spend.readSpend, readSpend),
    view: ({ series, ...report }: { readonly series: unknown }, { granularity }) =>
      granularity === undefined ? report : { ...report, series },
  },
  {
    name: 'spend_change',
    description:
      'Why spend changed between any two periods (default: this month so far, and as much time before): the groups that made the difference, the largest first, new and vanished ones marked, and how much of it is volume, mix of models, and price.',
    route: route(compareSpendBriefly, compareSpend),
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
