import { Badge, UnstyledButton } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { Name } from '../components/name.tsx';
import { formatWhole, plural } from '../format/quantity.ts';
import { dimensionName, type Filters, type GroupBy } from '../spend/filters.ts';
import { groupFilters, groupKey, groupName, type KeyNames } from '../spend/groups.ts';
import classes from './compare.module.css';

const marks = { new: 'new', vanished: 'gone', both: null } as const;

type Row = SpendChange['totals'];

const Figures = ({ of: row, most }: { readonly of: Row; readonly most: number }) => (
  <>
    <td className="right">
      <Money as="change" nano={row.costChangeNanoUsd} />
    </td>
    <td className="wide-only">
      <span className={classes['bar']} data-less={(row.costChangeNanoUsd ?? 0) < 0 || undefined} aria-hidden="true">
        <span style={{ width: `${(Math.abs(row.costChangeNanoUsd ?? 0) / most) * 50}%` }} />
      </span>
    </td>
    <td className="right wide-only">
      <Money nano={row.costBeforeNanoUsd} />
    </td>
    <td className="right">
      <Money nano={row.costNanoUsd} />
    </td>
    <td className="right num wide-only">
      {formatWhole(row.requestsBefore)} → {formatWhole(row.requests)}
    </td>
  </>
);

/** The groups by change, the largest first. A click filters by one. */
export const ChangedGroups = ({
  change: { groups, otherGroups },
  by,
  keyNames,
  onPick,
}: {
  readonly change: SpendChange;
  readonly by: GroupBy;
  readonly keyNames: KeyNames;
  readonly onPick: (values: Filters) => void;
}) => {
  const most = Math.max(...groups.map(({ costChangeNanoUsd }) => Math.abs(costChangeNanoUsd ?? 0)), 1);
  return (
    <section className={`card ${classes['groups']}`} aria-label="What changed">
      <div className="scroll-x">
        <table className="grid-table">
          <thead>
            <tr>
              <th>{by.map(dimensionName).join(' / ')}</th>
              <th className="right">Change</th>
              <th className={`wide-only ${classes['bar-head']}`}></th>
              <th className="right wide-only">Before</th>
              <th className="right">Now</th>
              <th className="right wide-only">Requests</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={groupKey(group, by)}>
                <td>
                  <UnstyledButton className={classes['pick']} onClick={() => onPick(groupFilters(group, by))}>
                    <Name of={groupName(group, by, keyNames)} />
                    {marks[group.presence] && (
                      <Badge size="xs" variant="light" color={group.presence === 'new' ? 'teal' : 'gray'}>
                        {marks[group.presence]}
                      </Badge>
                    )}
                  </UnstyledButton>
                  {group.unpricedRequests + group.unpricedRequestsBefore > 0 && (
                    <span className={`unknown ${classes['under']}`}>
                      + {plural(group.unpricedRequestsBefore, 'request')} of unknown cost before,{' '}
                      {formatWhole(group.unpricedRequests)} now
                    </span>
                  )}
                </td>
                <Figures of={group} most={most} />
              </tr>
            ))}
            {otherGroups && (
              <tr>
                <td className="dim">{plural(otherGroups.groups, 'more', 'more')}</td>
                <Figures of={otherGroups} most={most} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {groups.length === 0 && <p className={`dim ${classes['none']}`}>No requests in both periods.</p>}
    </section>
  );
};
