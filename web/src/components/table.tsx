import { Skeleton } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';
import { ScrollRegion } from './scroll-region.tsx';

export interface Column<Item> {
  /** Unique among the columns. */
  readonly head: string;
  /** Classes of the whole column, such as `right wide-only`. */
  readonly className?: string | undefined;
  readonly cell: (item: Item) => ReactNode;
}

interface TableProps<Item> {
  readonly label: string;
  readonly caption?: ReactNode;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[] | undefined;
  readonly keyOf: (item: Item) => string;
  /** Why there are no items: then nothing is shown, since the page says it. */
  readonly error?: unknown;
  /** Shown instead of a table without items. */
  readonly empty?: false | { readonly icon: LucideIcon; readonly title: string; readonly text: ReactNode };
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

/** A card with a table of items, written by its columns: the one way that pages show lists. Skeletons while there are no items yet. */
export const Table = <Item,>({ items, error, empty, columns, className = '', ...props }: TableProps<Item>) => {
  if (!items && error) return null;
  if (items?.length === 0 && empty)
    return (
      <section className="card">
        <EmptyState icon={empty.icon} title={empty.title}>
          {empty.text}
        </EmptyState>
      </section>
    );
  return (
    <ScrollRegion className={props.frame ?? 'card scroll-x'} label={props.label}>
      <table className={`grid-table ${className}`} aria-busy={!items}>
        {props.caption && <caption className="card-pad">{props.caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} className={column.className}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items?.map((item) => (
            <tr key={props.keyOf(item)} className={props.rowClassName?.(item)}>
              {columns.map((column) => (
                <td key={column.head} className={column.className}>
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
      {props.children}
    </ScrollRegion>
  );
};
