import * as z from 'zod/mini';
import { invalid } from '../../domain/errors.ts';
import { decimalOf } from '../../domain/money.ts';
import { type Input, type Operation, type Route, route } from '../../http/operation.ts';
import { pageParameters } from '../../http/parameters.ts';
import { parseWith, queryOf } from '../../http/parse-request.ts';
import type { Reading } from '../open-reading.ts';
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

const isCost = (name: string) => /cost|^billed\w*Usd$/i.test(name);

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
      // Its names are the account's own, such as cost_center, and null is no value.
      if (name === 'dim') return [name, member];
      return [name, member === null ? withoutUnknown(name, member) : withDecimalAmounts(member)];
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
  /** A shorter view, for where all is too long. */
  readonly brief?: Tool['view'];
  /** The list that the tool pages, where its operation does not. Default: `items`. */
  readonly rows?: (asked: Readonly<Record<string, unknown>>) => 'items' | 'groups' | 'series' | 'agents' | 'findings';
}

const { limit, ...changeParameters } = spend.compareSpend.query.shape;
/** With few groups, as an agent reads them all. */
const compareSpendBriefly = {
  ...spend.compareSpend,
  query: z.strictObject({ ...changeParameters, limit: z._default(limit.def.innerType, 10) }),
};

type Sums = Readonly<Record<string, unknown>>;

/** Sums without their parts, which the totals have. */
export const withoutParts = ({ tokens: _, units: __, costByProvenance: ___, ...sums }: Sums): Sums => {
  const { mayAlsoMatch, groups, ...rest } = sums;
  return {
    ...rest,
    ...(mayAlsoMatch ? { mayAlsoMatch } : {}),
    ...(Array.isArray(groups) && groups.length > 0 && { groups: groups.map(withoutParts) }),
  };
};

/** Spend, and why it changed. */
export const spendTools = ({
  readSpend,
  compareSpend,
  now,
}: Pick<Reading, 'readSpend' | 'compareSpend' | 'now'>): Tool[] => [
  {
    name: 'spend',
    description:
      'What was spent between any two hours (default: this month so far), in total and by group: provider, model, tag, key, project, member, client, or a declared dimension such as dim:team. Name a granularity to get a series as well.',
    route: route(spend.readSpend, readSpend),
    rows: ({ granularity }) => ((granularity ?? null) === null ? 'groups' : 'series'),
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
    rows: () => 'groups',
  },
];

/** A response has at most as many characters where the agent names no `limit`: it fills the agent's context. */
const MAX_CHARACTERS = 8_000;
/** No response has more. */
const MOST_CHARACTERS = 64_000;

const ownPage = pageParameters({ default: 1_000, max: 1_000 });

const hasParameter = ({ query }: Operation, name: string): boolean => name in (query?.shape ?? {});

/** The list that a tool pages itself; undefined where its operation does, or there is none. */
const rowsOf = (
  { route: { operation }, rows }: Pick<Tool, 'route' | 'rows'>,
  asked: Readonly<Record<string, unknown>>,
) => {
  const { schema } = operation.success;
  if (rows) return rows(asked);
  const hasItems = schema instanceof z.ZodMiniObject && 'items' in schema.shape;
  return hasItems && !hasParameter(operation, 'cursor') ? 'items' : undefined;
};

const argumentsOf = (tool: Pick<Tool, 'route' | 'rows'>) => {
  const { params, query } = tool.route.operation;
  const own = rowsOf(tool, {}) && ownPage;
  return z.strictObject({ ...own, ...params?.shape, ...query?.shape });
};

const isFlag = ({ enum: values }: { readonly enum?: readonly unknown[] }): boolean => values?.join() === 'true,false';

/** JSON Schema of a tool's arguments: the parameters of its operation. */
export const argumentSchema = (tool: Tool) => {
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(argumentsOf(tool), { io: 'input' });
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

/** A response as it is paged: its lists, and what says that they go on. */
interface Shown extends Readonly<Record<string, unknown>> {
  readonly sessions?: number;
  readonly otherGroups?: unknown;
}

const listIn = (shown: Shown, name: string): readonly unknown[] => {
  const list = shown[name];
  return Array.isArray(list) ? list : [];
};

/** Some rows of a response, and where the next ones are. */
const pageIn = (shown: Shown, rows: string, from: number, count: number): Shown => {
  const list = listIn(shown, rows);
  const end = Math.min(from + count, list.length);
  const isMore =
    end < (rows === 'items' ? (shown.sessions ?? list.length) : list.length) ||
    (rows === 'groups' && Boolean(shown.otherGroups));
  return { ...shown, [rows]: list.slice(from, end), nextCursor: isMore ? String(end) : null };
};

const offsetOf = (cursor = '0'): number => {
  const from = Number(cursor);
  if (Number.isSafeInteger(from) && from >= 0) return from;
  throw invalid('cursor', 'must be nextCursor of the page before');
};

/** Runs a tool as the API runs its operation: by its schema on the way out, too. @param parsed arguments of the tool */
const runTool = async (
  { operation, run }: Route,
  parsed: Readonly<Record<string, unknown>>,
  input: Pick<Input<Operation>, 'caller' | 'requestId'>,
): Promise<unknown> => {
  const of = (shape: object = {}) => Object.fromEntries(Object.entries(parsed).filter(([name]) => name in shape));
  const output = await run({
    ...input,
    authorization: undefined,
    body: undefined,
    params: of(operation.params?.shape),
    query: of(operation.query?.shape),
  } as unknown as Input<Operation>);
  return operation.success.schema?.parse(output);
};

interface Page {
  readonly text: string;
  readonly rows: number;
}

/**
 * The response of a tool as text. A long list is cut to what an agent can read: to more of it where it names a limit. `nextCursor` has the
 * rest. A series is cut after its groups, which are cut to half of the text.
 *
 * @throws DomainError
 */
export const toolText = async (
  tool: Tool,
  asked: Readonly<Record<string, unknown>>,
  input: Pick<Input<Operation>, 'caller' | 'requestId'>,
): Promise<string> => {
  const { route: asking, view = (output) => output, brief = view } = tool;
  const schema = argumentsOf(tool);
  const query = asQuery(schema, asked);
  const parsed = parseWith(schema, query) as { readonly limit?: number; readonly cursor?: string };
  const maxCharacters = query['limit'] === undefined ? MAX_CHARACTERS : MOST_CHARACTERS;
  const rows = rowsOf(tool, query);
  const from = rows === undefined ? 0 : offsetOf(parsed.cursor);
  const outputs = new Map<number, Promise<unknown>>();
  const run = (limit = 0) => {
    const output = outputs.get(limit) ?? runTool(asking, { ...parsed, limit }, input);
    outputs.set(limit, output);
    return output;
  };
  type Cut = (shown: Shown, count: number) => Shown;
  /**
   * The page with as many rows of a list as the characters hold.
   *
   * @param limitOf the limit of the operation, for a number of rows
   */
  const fitting = async (
    list: string,
    count: number,
    most: number,
    limitOf: (count: number) => number,
    cut: Cut,
  ): Promise<Page> => {
    const output = (await run(limitOf(count))) as never;
    const pageOf = (shown: unknown): Page => {
      const page = cut(shown as Shown, count);
      return { text: JSON.stringify(withDecimalAmounts(page)), rows: listIn(page, list).length };
    };
    const whole = pageOf(view(output, query));
    const page = whole.text.length > MAX_CHARACTERS ? pageOf(brief(output, query)) : whole;
    if (page.text.length <= most || page.rows <= 1) return page;
    const fewer = Math.floor((page.rows * most) / page.text.length);
    return fitting(list, Math.max(1, Math.min(page.rows - 1, fewer)), most, limitOf, cut);
  };
  const readPage = async (): Promise<Page> => {
    const { limit = 0 } = parsed;
    const itself = (count: number) => count;
    const ofPage: Cut = (shown, count) => pageIn(shown, rows ?? '', from, count);
    if (rows === undefined) return fitting('items', limit, maxCharacters, itself, (shown) => shown);
    if (rows !== 'series') return fitting(rows, limit, maxCharacters, (count) => from + count, ofPage);
    const groups = await fitting('groups', limit, maxCharacters / 2, itself, (shown) => ({ ...shown, series: [] }));
    return fitting(rows, Number.POSITIVE_INFINITY, maxCharacters, () => groups.rows || limit, ofPage);
  };
  const { text } = await readPage();
  if (text.length <= MOST_CHARACTERS) return text;
  const message = `makes a response of ${text.length} characters, and at most ${MOST_CHARACTERS} are sent: ask for fewer groups, a shorter time, or a coarser granularity`;
  throw invalid('limit', message);
};
