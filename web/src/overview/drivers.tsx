import { Button, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import type { SpendReport } from '../api/responses.ts';
import { Count, Money } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { Name } from '../components/name.tsx';
import { shownIn } from '../format/money.ts';
import { formatShare, formatWhole, plural } from '../format/quantity.ts';
import { dimensionName, type Filters, type GroupBy, groupWord } from '../spend/filters.ts';
import { groupColors, groupFilters, groupKey, groupName, type KeyNames } from '../spend/groups.ts';
import { REST_COLOR } from '../spend/palette.ts';
import classes from './overview.module.css';

const FIRST = 10;

/** The share of a cost in the known total; null for an unknown cost. */
const shareOf = (costNanoUsd: number | null, totalNanoUsd: number): number | null => {
  if (costNanoUsd === null) return null;
  return totalNanoUsd > 0 ? Math.max(0, costNanoUsd) / totalNanoUsd : 0;
};

const tokensIn = ({ tokens }: Pick<SpendReport['totals'], 'tokens'>) => tokens.inputTokens;

/** The groups by cost, the most expensive first. A click filters by one. */
export const Drivers = ({
  report,
  by,
  keyNames,
  onPick,
}: {
  readonly report: SpendReport;
  readonly by: GroupBy;
  readonly keyNames: KeyNames;
  readonly onPick: (values: Filters) => void;
}) => {
  const [all, setAll] = useState(false);
  // One column, one currency: where a day has no rate, all groups are in US dollars.
  const code = report.totals.displayCost === null ? undefined : report.displayCurrency?.code;
  const total = report.totals.costNanoUsd ?? 0;
  const colors = groupColors(report.groups, by);
  const rows = all ? report.groups : report.groups.slice(0, FIRST);
  return (
    <section className={`card ${classes['drivers']}`} aria-labelledby="drivers">
      <div className={`card-head ${classes['drivers-head']}`}>
        <h2 id="drivers">Top {by.length === 1 ? `${groupWord(by)}s` : `pairs of ${groupWord(by)}`}</h2>
        <span className="dim small">Select one to filter by it</span>
      </div>
      <div className="scroll-x">
        <table className="grid-table">
          <thead>
            <tr>
              <th>{by.map(dimensionName).join(' / ')}</th>
              <th className="right">Cost</th>
              <th className={classes['share-head']}>Share</th>
              <th className="right wide-only">Requests</th>
              <th className="right wide-only">Tokens in</th>
              <th className="right wide-only">Tokens out</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((group) => {
              const share = shareOf(group.costNanoUsd, total);
              const color = colors.get(groupKey(group, by)) ?? REST_COLOR;
              return (
                <tr key={groupKey(group, by)}>
                  <td>
                    <UnstyledButton className={classes['pick']} onClick={() => onPick(groupFilters(group, by))}>
                      <span className={classes['swatch']} style={{ background: color }} aria-hidden="true" />
                      <Name of={groupName(group, by, keyNames)} />
                    </UnstyledButton>
                    {group.unpricedRequests > 0 && group.costNanoUsd !== null && (
                      <span className={`unknown ${classes['under']}`}>
                        + {plural(group.unpricedRequests, 'request')} of unknown cost
                      </span>
                    )}
                    {group.unpricedRequests > group.unfinishedRequests && group.model && (
                      <AnchorLink
                        size="xs"
                        className={classes['under']}
                        to="/prices"
                        search={{ model: group.model, provider: group.provider }}
                      >
                        Set its price
                      </AnchorLink>
                    )}
                  </td>
                  <td className="right">
                    <Money nano={group.costNanoUsd} shown={shownIn(group, code)} />
                  </td>
                  <td>
                    <span className={classes['share']}>
                      <span className={classes['track']}>
                        <span style={{ width: `${(share ?? 0) * 100}%`, background: color }} />
                      </span>
                      <span className="num dim small">{formatShare(share)}</span>
                    </span>
                  </td>
                  <td className="right num wide-only">{formatWhole(group.requests)}</td>
                  <td className="right wide-only">
                    <Count of={tokensIn(group)} unit="input tokens" />
                  </td>
                  <td className="right wide-only">
                    <Count of={group.tokens.outputTokens} unit="output tokens" />
                  </td>
                </tr>
              );
            })}
            {all && report.otherGroups && report.otherGroups.groups > 0 && (
              <tr>
                <td className="dim">{plural(report.otherGroups.groups, 'more', 'more')}</td>
                <td className="right">
                  <Money nano={report.otherGroups.costNanoUsd} shown={shownIn(report.otherGroups, code)} />
                </td>
                <td />
                <td className="right num wide-only">{formatWhole(report.otherGroups.requests)}</td>
                <td className="wide-only" />
                <td className="wide-only" />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {report.groups.length > FIRST && (
        <div className={classes['more']}>
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(!all)}>
            {all ? `The first ${FIRST}` : `All ${report.groups.length + (report.otherGroups?.groups ?? 0)}`}
          </Button>
        </div>
      )}
    </section>
  );
};
