import * as z from 'zod/mini';
import { ValidationError } from '../../domain/errors.ts';
import { decimalOf } from '../../domain/money.ts';
import { type Input, type Operation, type Route, route } from '../../http/operation.ts';
import { pageParameters } from '../../http/parameters.ts';
import { parseWith, queryOf } from '../../http/parse-request.ts';
import type { openSpendReads } from '../open-spend-reads.ts';
import * as spend from '../spend/operations.ts';
import { readForecast, forecast as readForecastOperation } from './forecast.ts';

/** Said of a cost that is not known: a reader may take null for nothing, and nothing for $0. */
const UNKNOWN = 'unknown';

const NANO_DIGITS = 9;
/** Digits of a rate below a nano-USD, as records have them at most. */
const RATE_DIGITS = 12;

/** Nano-USD, possibly fractional (a rate), in USD as an exact decimal string. */
const usdText = (nanoUsd: number): string =>
  Number.isInteger(nanoUsd)
    ? decimalOf(nanoUsd)
    : decimalOf(BigInt(nanoUsd.toFixed(RATE_DIGITS).replace('.', '')), NANO_DIGITS + RATE_DIGITS);

const isCost = (name: string) => /cost/i.test(name);

const withoutUnknown = (name: string, value: unknown): unknown => (value === null && isCost(name) ? UNKNOWN : value);

/**
 * The same value with each amount once, in USD as an exact decimal string: `costNanoUsd: 1500000` is `costUsd: "0.0015"`. A cost that is not
 * known is `"unknown"`.
 */
const withDecimalAmounts = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withDecimalAmounts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => {
      if (/nanoUsd/i.test(name) && (member === null || typeof member === 'number')) {
        const inUsd = name.replace('NanoUsd', 'Usd').replace(/^nanoUsd/, 'usd');
        return [inUsd, member === null ? withoutUnknown(name, null) : usdText(member)];
      }
      return [name, name.endsWith('Usd') ? withoutUnknown(name, member) : withDecimalAmounts(member)];
    }),
  );
};

/** A question that an agent can ask: an operation of the API that reads, under a name of its own. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly route: Route;
  /** The part of the output that is shown, where not all of it. @param asked the arguments as they were sent */
  readonly view?: (output: never, asked: Readonly<Record<string, unknown>>) => unknown;
  /** A shorter view, for where fewer items are not enough. */
  readonly brief?: Tool['view'];
}

const { limit, ...changeParameters } = spend.compareSpend.query.shape;
/** With few groups, as an agent reads them all. */
const compareSpendBriefly = {
  ...spend.compareSpend,
  query: z.strictObject({ ...changeParameters, limit: z._default(limit.def.innerType, 10) }),
};

type Sums = Readonly<Record<string, unknown>>;

/** Sums without their parts, which the totals have. */
const withoutParts = ({ tokens: _, units: __, costByProvenance: ___, ...sums }: Sums): Sums =>
  Array.isArray(sums['groups']) ? { ...sums, groups: sums['groups'].map(withoutParts) } : sums;

/** Spend, and why it changed. */
export const spendTools = ({
  readSpend,
  compareSpend,
  now,
}: Pick<ReturnType<typeof openSpendReads>, 'readSpend' | 'compareSpend'> & { readonly now: () => Date }): Tool[] => [
  {
    name: 'spend',
    description:
      'What was spent between any two hours (default: this month so far), in total and by group: provider, model, tag, key, project, client, or a declared dimension such as dim:team. Name a granularity to get a series as well.',
    route: route(spend.readSpend, readSpend),
    view: ({ series, ...report }: { readonly series: unknown }, { granularity }) =>
      granularity === undefined ? report : { ...report, series },
    brief: ({ series, groups, ...report }: { readonly series: Sums[]; readonly groups: Sums[] }, { granularity }) => ({
      ...report,
      groups: groups.map(withoutParts),
      ...(granularity !== undefined && { series: series.map(withoutParts) }),
    }),
  },
  {
    name: 'forecast',
    description:
      'What this month comes to at the rate of the last seven whole days, with what is spent so far: in all, or of a provider, model, project, key or client.',
    route: route(readForecastOperation, readForecast({ readSpend, now })),
  },
  {
    name: 'spend_change',
    description:
      'Why spend changed between any two periods (default: this month so far, and as much time before): the groups that made the difference, the largest first, new and vanished ones marked, and how much of it is volume, mix of models, and price.',
    route: route(compareSpendBriefly, compareSpend),
  },
];

/** A response has at most as many characters where the agent names no `limit`: it fills the agent's context. */
const MAX_CHARACTERS = 8_000;
/** No response has more. */
const MOST_CHARACTERS = 64_000;

const wholeListPage = pageParameters({ default: 1_000, max: 1_000 });

/** True for a list that its operation returns whole: the tool pages it. */
const isWholeList = ({ success, query }: Operation): boolean =>
  success.schema instanceof z.ZodMiniObject && 'items' in success.schema.shape && !('limit' in (query?.shape ?? {}));

const argumentsOf = (operation: Operation) =>
  z.strictObject({
    ...operation.params?.shape,
    ...operation.query?.shape,
    ...(isWholeList(operation) && wholeListPage),
  });

const isFlag = ({ enum: values }: { readonly enum?: readonly unknown[] }): boolean => values?.join() === 'true,false';

/** JSON Schema of a tool's arguments: the parameters of its operation. */
export const argumentSchema = ({ route: { operation } }: Tool) => {
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(argumentsOf(operation), { io: 'input' });
  const natural = Object.entries(properties).map(([name, property]) =>
    typeof property === 'object' && isFlag(property)
      ? [name, { type: 'boolean', description: property.description }]
      : [name, property],
  );
  return { ...schema, properties: Object.fromEntries(natural) } as {
    type: 'object';
    properties?: Record<string, object>;
  };
};

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** Arguments as a query has them: agents send `true`, one value for a list, and null for nothing. */
const asQuery = (schema: z.ZodMiniObject, asked: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const given = Object.entries(asked).filter(([, value]) => value !== null && value !== undefined);
  const plain = given.filter(([, value]) => [value].flat().every(isScalar));
  const multiValueQueryStringParameters = Object.fromEntries(
    plain.map(([name, value]) => [name, [value].flat().map(String)]),
  );
  return { ...Object.fromEntries(given), ...queryOf({ multiValueQueryStringParameters }, schema) };
};

const pageIn = <O extends { readonly items: readonly unknown[] }>(
  output: O,
  { limit, cursor = '0' }: { readonly limit?: number; readonly cursor?: string },
) => {
  const from = Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0)
    throw new ValidationError([{ path: 'cursor', message: 'is not nextCursor of a page before' }]);
  const end = from + (limit ?? output.items.length);
  return {
    ...output,
    items: output.items.slice(from, end),
    nextCursor: end < output.items.length ? String(end) : null,
  };
};

/** Runs a tool as the API runs its operation: parsed by its schemas on the way in and out. */
const runTool = async (
  { operation, run }: Route,
  asked: Readonly<Record<string, unknown>>,
  input: Pick<Input<Operation>, 'caller' | 'requestId'>,
): Promise<unknown> => {
  const schema = argumentsOf(operation);
  const parsed = Object.entries(parseWith(schema, asQuery(schema, asked)));
  const of = (shape: object = {}) => Object.fromEntries(parsed.filter(([name]) => name in shape));
  const output = await run({
    ...input,
    authorization: undefined,
    body: undefined,
    params: of(operation.params?.shape),
    query: of(operation.query?.shape),
  } as unknown as Input<Operation>);
  const checked = operation.success.schema?.parse(output);
  return isWholeList(operation) ? pageIn(checked as { items: unknown[] }, of(wholeListPage)) : checked;
};

/** How many things a list has that a limit makes shorter. */
const lengthOf = ({ items, groups }: { readonly items?: unknown; readonly groups?: unknown }): number =>
  [items, groups].map((list) => (Array.isArray(list) ? list.length : 0)).reduce((a, b) => Math.max(a, b));

/**
 * The response of a tool as text. Unless the agent names a limit, a long list is cut to what an agent can read: `nextCursor` or
 * `otherGroups` has the rest.
 *
 * @throws DomainError
 */
export const toolText = async (
  { route: asking, view = (output) => output, brief = view }: Tool,
  asked: Readonly<Record<string, unknown>>,
  input: Pick<Input<Operation>, 'caller' | 'requestId'>,
): Promise<string> => {
  const read = async (args: typeof asked) => {
    const output = (await runTool(asking, args, input)) as never;
    const textOf = (shown: unknown) => JSON.stringify(withDecimalAmounts(shown));
    const whole = textOf(view(output, args));
    return { count: lengthOf(output), text: whole.length > MAX_CHARACTERS ? textOf(brief(output, args)) : whole };
  };
  let { text, count } = await read(asked);
  const hasLimit = 'limit' in argumentsOf(asking.operation).shape && asked['limit'] === undefined;
  while (hasLimit && text.length > MAX_CHARACTERS && count > 1) {
    const limit = Math.max(1, Math.min(count - 1, Math.floor((count * MAX_CHARACTERS) / text.length)));
    ({ text, count } = await read({ ...asked, limit }));
  }
  if (text.length <= MOST_CHARACTERS) return text;
  const message = `makes a response of ${text.length} characters, and at most ${MOST_CHARACTERS} are sent: ask for fewer groups, a shorter time, or a coarser granularity`;
  throw new ValidationError([{ path: 'limit', message }]);
};
