import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { ScrollRegion } from './scroll-region.tsx';

export interface Column<Item> {
  readonly head: string;
  /** Classes of the whole column, such as `right wide-only`. */
  readonly className?: string;
  readonly cell: (item: Item) => ReactNode;
}

/** A card with a table of items, written by its columns. Skeletons while there are no items yet. */
export const Table = <Item,>({
  label,
  caption,
  columns,
  items,
  keyOf,
  skeletons = [38],
  className = '',
  rowClassName,
}: {
  readonly label: string;
  readonly caption?: ReactNode;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[] | undefined;
  readonly keyOf: (item: Item) => string;
  /** The heights of rows that are loading, in pixels. */
  readonly skeletons?: readonly number[];
  readonly className?: string | undefined;
  readonly rowClassName?: ((item: Item) => string | undefined) | undefined;
}) => (
  <ScrollRegion className="card scroll-x" label={label}>
    <table className={`grid-table ${className}`} aria-busy={!items}>
      {caption && <caption className="card-pad">{caption}</caption>}
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
        {items
          ? items.map((item) => (
              <tr key={keyOf(item)} className={rowClassName?.(item)}>
                {columns.map((column) => (
                  <td key={column.head} className={column.className}>
                    {column.cell(item)}
                  </td>
                ))}
              </tr>
            ))
          : skeletons.map((height, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else.
              <tr key={row}>
                <td colSpan={columns.length}>
                  <Skeleton height={height} />
                </td>
              </tr>
            ))}
      </tbody>
    </table>
  </ScrollRegion>
);
