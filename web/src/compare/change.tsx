import { Badge, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money, useMayMatch } from '../components/amount.tsx';
import { type Column, Name, Table } from '../components/table.tsx';
import { formatWhole, plural, shownCosts } from '../format/numbers.ts';
import { formatPeriod } from '../format/time.ts';
import { Change } from '../spend/change.tsx';
import { dimensionName, type Filters, type GroupBy } from '../spend/filters.ts';
import { groupFilters, groupKey, groupName } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './compare.module.css';
import { effectsShown } from './effects.ts';

const marks = { new: 'new', vanished: 'gone', both: null } as const;

type ChangedGroup = SpendChange['groups'][number];
type Row = ChangedGroup | NonNullable<SpendChange['otherGroups']>;

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
  const name = (group: ChangedGroup) => (
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

/** A change as a part of the largest one. */
const Bar = ({ nano, most }: { readonly nano: number; readonly most: number }) => (
  <span className={`painted ${classes['bar']}`} data-less={nano < 0 || undefined} aria-hidden="true">
    <span style={{ width: `${(Math.abs(nano) / most) * 50}%` }} />
  </span>
);

/** The three effects, and where the exchange rate changed what that did. */
const Effects = ({ change }: { readonly change: SpendChange }) => {
  const { rows, code } = effectsShown(change);
  const most = Math.max(...rows.map(({ nano }) => Math.abs(nano)), 1);
  return (
    <dl className={classes['effects']}>
      {rows.map(({ label, what, nano }) => (
        <div key={label}>
          <Stack component="dt" gap={0}>
            <strong>{label}</strong>
            <span className="dim small">{what}</span>
          </Stack>
          <dd>
            <Bar nano={nano} most={most} />
            <Money as="change" nano={nano} shown={code ? { decimal: String(nano / 1e9), code } : undefined} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/** Requests of both periods that no figure includes. */
const Missing = ({ change: { totals, before, ...now } }: { readonly change: SpendChange }) => {
  const mayMatch = useMayMatch();
  const lines = [
    totals.unpricedRequests + totals.unpricedRequestsBefore > 0 &&
      `The cost of ${plural(totals.unpricedRequests, 'request')} is unknown, and that of ${plural(totals.unpricedRequestsBefore, 'request')} before. No figure includes them.`,
    now.untrackedRequests + before.untrackedRequests > 0 &&
      `Up to ${plural(now.untrackedRequests, 'request')} went untracked, and ${plural(before.untrackedRequests, 'request')} before. No figure includes them; filters do not apply.`,
    (now.mayAlsoMatch || before.mayAlsoMatch) &&
      `Up to ${mayMatch(now.mayAlsoMatch)} may match the filter, and ${mayMatch(before.mayAlsoMatch)} before.`,
    !now.isComplete && 'Names that are too many to list each, or not known, are under (other) and "not known".',
  ].filter((line) => typeof line === 'string');
  return lines.map((line) => (
    <p key={line} className="unknown small">
      {line}
    </p>
  ));
};

export const Summary = ({ change, zone }: { readonly change: SpendChange; readonly zone: string }) => {
  const { totals, before } = change;
  const shown = shownCosts(totals, change.displayCurrency);
  return (
    <section className="card card-pad" aria-labelledby="change">
      <h2 id="change" className="label">
        {formatPeriod(change.from, change.to, zone)} against {formatPeriod(before.from, before.to, zone)}
      </h2>
      <Group align="baseline" gap="4px 14px" mt={4} mb={14}>
        <Text span fz={26} fw={640} lts="-0.02em">
          <Money as="change" nano={totals.costChangeNanoUsd} shown={shown.change} />
        </Text>
        <span className="dim small">
          <Change of={totals} code={change.displayCurrency} /> from{' '}
          <Money nano={totals.costBeforeNanoUsd} shown={shown.before} /> to{' '}
          <Money nano={totals.costNanoUsd} shown={shown.now} />
        </span>
      </Group>
      {change.effects && <Effects change={change} />}
      <Missing change={change} />
    </section>
  );
};
