import { Button, Skeleton, Text, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type Permission, useMe } from '../app.ts';
import { Count } from './amount.tsx';
import { CardHead, type Empty, EmptyCard, type LoadedQuery, LoadProblem, ScrollRegion } from './page.tsx';

export interface Column<Item> {
  readonly head: string;
  /** Unique among the columns, by default the head. Two keys of the account may have one name. */
  readonly key?: string;
  /** Classes of the whole column, such as `right wide-only`. */
  readonly className?: string | undefined;
  /** For roles with one of these permissions alone: to others it would be empty. */
  readonly needs?: Permission | readonly Permission[];
  readonly cell: (item: Item) => ReactNode;
}

/** The last column: the buttons of each row. Paper has none of them. */
export const actions = <Item,>(
  needs: Permission | readonly Permission[],
  cell: (item: Item) => ReactNode,
): Column<Item> => ({ head: 'Actions', className: 'right page-actions', needs, cell });

type Tokens = Readonly<Record<'inputTokens' | 'outputTokens', number | null>>;

/** The columns of tokens. @param tokensOf undefined for a row without any */
export const tokenColumns = <Item,>(tokensOf: (item: Item) => Tokens | undefined): readonly Column<Item>[] =>
  (['in', 'out'] as const).map((way) => ({
    head: `Tokens ${way}`,
    className: 'right wide-only',
    cell: (item) => {
      const tokens = tokensOf(item);
      return tokens && <Count of={tokens[`${way}putTokens`]} unit={`${way}put tokens`} />;
    },
  }));

interface ListQuery<Item> {
  readonly data: { readonly items: readonly Item[] } | undefined;
  readonly error: unknown;
}

interface TableProps<Item> {
  readonly label: string;
  readonly caption?: ReactNode;
  readonly columns: readonly Column<Item>[];
  /** Has the items. Where it failed nothing is shown, since the page says why. */
  readonly query?: ListQuery<Item>;
  /** Given where they are not all of the query's. */
  readonly items?: readonly Item[] | undefined;
  /** By default its id. */
  readonly keyOf?: (item: Item) => string;
  /** For lists that may be long: what a search finds an item by. */
  readonly textOf?: (item: Item) => string;
  /** Shown instead of a table without items. */
  readonly empty?: false | Empty;
  /** The heights of rows that are loading, in pixels. */
  readonly skeletons?: readonly number[];
  readonly frame?: string | undefined;
  readonly className?: string | undefined;
  readonly rowClassName?: (item: Item) => string | undefined;
  /** A last row as wide as the table. */
  readonly lastRow?: ReactNode;
  /** Shown below the table, in its card. */
  readonly children?: ReactNode;
}

/** Rows of a long list, and how many more a click shows: a browser stands still for seconds over thousands. */
const ROWS = 100;

/** A card with a table of items, written by its columns: the one way that pages show lists. Skeletons while there are no items yet. */
export const Table = <Item,>({ query, empty, columns: all, className = '', textOf, ...props }: TableProps<Item>) => {
  const [search, setSearch] = useState('');
  const [rows, setRows] = useState(ROWS);
  const { me, may } = useMe();
  // Until the role is known, too, since a column that comes late moves the others.
  const columns = all.filter(({ needs }) => needs === undefined || !me || [needs].flat().some(may));
  const { items = query?.data?.items, keyOf = (item) => (item as { readonly id: string }).id } = props;
  if (!items && query?.error) return null;
  if (items?.length === 0 && empty) return <EmptyCard {...empty} />;
  const isLong = textOf !== undefined && items !== undefined && items.length > ROWS;
  const found = isLong ? items.filter((item) => textOf(item).toLowerCase().includes(search.toLowerCase())) : items;
  const shown = isLong ? found?.slice(0, rows) : found;
  return (
    <ScrollRegion className={props.frame ?? 'card scroll-x'} label={props.label}>
      {isLong && (
        <TextInput
          m="sm"
          size="xs"
          aria-label={`Search ${props.label}`}
          placeholder={`Search ${items.length}`}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      <table className={`grid-table ${className}`} aria-busy={!items}>
        {props.caption && <caption className="card-pad">{props.caption}</caption>}
        <thead>
          <tr>
            {columns.map(({ head, key = head, className: classOfColumn }) => (
              <th key={key} className={classOfColumn}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown?.map((item) => (
            <tr key={keyOf(item)} className={props.rowClassName?.(item)}>
              {columns.map((column) => (
                <td key={column.key ?? column.head} className={column.className}>
                  {column.cell(item)}
                </td>
              ))}
            </tr>
          ))}
          {!items &&
            (props.skeletons ?? [38]).map((height, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else.
              <tr key={row}>
                <td colSpan={columns.length}>
                  <Skeleton height={height} />
                </td>
              </tr>
            ))}
          {props.lastRow && (
            <tr>
              <td colSpan={columns.length} className="dim small">
                {props.lastRow}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      {found && shown && found.length > shown.length && (
        <Button m="sm" size="xs" variant="default" onClick={() => setRows(rows + ROWS)}>
          Show more
        </Button>
      )}
      {props.children}
    </ScrollRegion>
  );
};

export const TwoLines = ({ children, second }: { readonly children: ReactNode; readonly second: ReactNode }) => (
  <>
    {children}
    <br />
    <span className="dim small">{second}</span>
  </>
);

interface ListSectionProps<Item> extends Pick<TableProps<Item>, 'columns' | 'keyOf'> {
  readonly title: string;
  readonly action?: ReactNode;
  readonly query: LoadedQuery & ListQuery<Item> & Pick<UseQueryResult, 'isLoading'>;
  /** Said where there are no items. */
  readonly none?: string;
  /** Shown above the items. */
  readonly children?: ReactNode;
  readonly below?: ReactNode;
}

export const ListSection = <Item,>({
  title,
  action,
  query,
  none,
  children,
  below,
  ...table
}: ListSectionProps<Item>) => (
  <div className="card">
    <div className="card-pad">
      <CardHead title={title}>{action}</CardHead>
      <LoadProblem query={query} title={`${title} could not be loaded`} />
      {query.isLoading && <Skeleton height={24} />}
      {query.data?.items.length === 0 && none && <p className="dim small">{none}</p>}
      {children}
    </div>
    {query.data && query.data.items.length > 0 && <Table {...table} label={title} frame="scroll-x" query={query} />}
    {below}
  </div>
);

const WRAPPED = { overflowWrap: 'anywhere', whiteSpace: 'normal' } as const;

/** A name that may be long: it wraps once, and hovering shows it whole. One text, which Ctrl-F and copying find. */
export const Name = ({ of, className }: { readonly of: string; readonly className?: string | undefined }) => (
  <Text span inherit lineClamp={2} miw={0} className={className} style={WRAPPED} title={of}>
    {of}
  </Text>
);
