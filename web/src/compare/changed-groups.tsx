import { Badge, UnstyledButton } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { type Column, Name, Table } from '../components/table.tsx';
import { shownCosts } from '../format/money.ts';
import { formatWhole, plural } from '../format/quantity.ts';
import { dimensionName, type Filters, type GroupBy } from '../spend/filters.ts';
import { groupFilters, groupKey, groupName } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './compare.module.css';
import { Bar } from './summary.tsx';

const marks = { new: 'new', vanished: 'gone', both: null } as const;

type Group = SpendChange['groups'][number];
type Row = Group | NonNullable<SpendChange['otherGroups']>;

interface ChangedGroupsProps {
  readonly change: SpendChange;
  readonly by: GroupBy;
  readonly onPick: (values: Filters) => void;
}

/** The groups by change, the largest first. A click filters by one. */
export const ChangedGroups = ({ change, by, onPick }: ChangedGroupsProps) => {
  const keyNames = useKeyNames();
  const { groups, otherGroups, displayCurrency } = change;
  if (groups.length === 0) return <p className="card card-pad dim">No requests in either period.</p>;
  const most = Math.max(...groups.map(({ costChangeNanoUsd }) => Math.abs(costChangeNanoUsd ?? 0)), 1);
  const name = (group: Group) => (
    <>
      <UnstyledButton className={`pick ${classes['pick']}`} onClick={() => onPick(groupFilters(group, by))}>
        <Name of={groupName(group, by, keyNames)} />
        {marks[group.presence] && (
          <Badge flex="none" size="xs" color={group.presence === 'new' ? 'teal' : 'gray'}>
            {marks[group.presence]}
          </Badge>
        )}
      </UnstyledButton>
      {group.unpricedRequests + group.unpricedRequestsBefore > 0 && (
        <span className="unknown under">
          + {plural(group.unpricedRequestsBefore, 'request')} of unknown cost before,{' '}
          {formatWhole(group.unpricedRequests)} now
        </span>
      )}
    </>
  );
  const columns: readonly Column<Row>[] = [
    {
      head: by.map(dimensionName).join(' / '),
      cell: (row) => ('groups' in row ? <span className="dim">{plural(row.groups, 'more', 'more')}</span> : name(row)),
    },
    {
      head: 'Change',
      className: 'right',
      cell: (row) => (
        <div className={classes['change']}>
          <Bar nano={row.costChangeNanoUsd ?? 0} most={most} />
          <Money as="change" nano={row.costChangeNanoUsd} shown={shownCosts(row, displayCurrency).change} />
        </div>
      ),
    },
    {
      head: 'Before',
      className: 'right wide-only',
      cell: (row) => <Money nano={row.costBeforeNanoUsd} shown={shownCosts(row, displayCurrency).before} />,
    },
    {
      head: 'Now',
      className: 'right',
      cell: (row) => <Money nano={row.costNanoUsd} shown={shownCosts(row, displayCurrency).now} />,
    },
    {
      head: 'Requests',
      className: 'right num wide-only',
      cell: ({ requestsBefore, requests }) => `${formatWhole(requestsBefore)} → ${formatWhole(requests)}`,
    },
  ];
  return (
    <section className={`card ${classes['groups']}`} aria-label="What changed">
      <Table
        label="Changed groups"
        frame="scroll-x"
        columns={columns}
        items={otherGroups ? [...groups, otherGroups] : groups}
        keyOf={(row) => ('groups' in row ? 'others' : groupKey(row, by))}
      />
    </section>
  );
};
