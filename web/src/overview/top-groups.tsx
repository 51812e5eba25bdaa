import { Box, Button, Group, Progress, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { SpendGroup, SpendReport } from '../api/responses.ts';
import { useMe } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { AnchorLink, CardHead } from '../components/page.tsx';
import { Name, Table, tokenColumns } from '../components/table.tsx';
import { formatShare, formatWhole, plural, shownIn } from '../format/numbers.ts';
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

/** The last row, of all groups that are not listed. */
type Others = NonNullable<SpendReport['otherGroups']>;

interface TopGroupsProps {
  readonly report: SpendReport;
  readonly by: GroupBy;
  readonly keyNames: KeyNames;
  readonly onPick: (values: Filters) => void;
}

/** The groups by cost, the most expensive first. A click filters by one. */
export const TopGroups = ({ report, by, keyNames, onPick }: TopGroupsProps) => {
  const [all, setAll] = useState(false);
  const { may } = useMe();
  // One column, one currency: where a day has no rate, all groups are in US dollars.
  const code = report.totals.displayCost === null ? undefined : report.displayCurrency?.code;
  const total = report.totals.costNanoUsd ?? 0;
  const colors = groupColors(report.groups, by);
  const colorOf = (group: SpendGroup) => colors.get(groupKey(group, by)) ?? REST_COLOR;
  const { groups, otherGroups } = report;
  const title = `Top ${by.length === 1 ? `${groupWord(by)}s` : `pairs of ${groupWord(by)}`}`;
  const hasOthers = all && otherGroups && otherGroups.groups > 0;
  const items: readonly (SpendGroup | Others)[] = [
    ...(all ? groups : groups.slice(0, FIRST)),
    ...(hasOthers ? [otherGroups] : []),
  ];
  const ofGroup = (cell: (group: SpendGroup) => ReactNode) => (item: SpendGroup | Others) =>
    'groups' in item ? null : cell(item);
  return (
    <section className={`card ${classes['groups']}`} aria-label={title}>
      <Box className="card-pad" pb={0}>
        <CardHead title={title}>
          <span className="dim small page-actions">Select one to filter by it</span>
        </CardHead>
      </Box>
      <Table
        label="Groups"
        frame="scroll-x"
        columns={[
          {
            head: by.map(dimensionName).join(' / '),
            cell: (item) =>
              'groups' in item ? (
                <span className="dim">{plural(item.groups, 'more', 'more')}</span>
              ) : (
                <>
                  <UnstyledButton className={`pick ${classes['pick']}`} onClick={() => onPick(groupFilters(item, by))}>
                    <span className="swatch" style={{ background: colorOf(item) }} aria-hidden="true" />
                    <Name of={groupName(item, by, keyNames)} />
                  </UnstyledButton>
                  {item.unpricedRequests > 0 && item.costNanoUsd !== null && (
                    <span className={`unknown under ${classes['under']}`}>
                      + {plural(item.unpricedRequests, 'request')} of unknown cost
                    </span>
                  )}
                  {item.unpricedRequests > item.unfinishedRequests && item.model && may('prices:write') && (
                    <AnchorLink
                      size="xs"
                      className={`under ${classes['under']}`}
                      to="/prices"
                      search={{ model: item.model, provider: item.provider }}
                    >
                      Set its price
                    </AnchorLink>
                  )}
                </>
              ),
          },
          {
            head: 'Cost',
            className: 'right',
            cell: (item) => <Money nano={item.costNanoUsd} shown={shownIn(item, code)} />,
          },
          {
            head: 'Share',
            className: classes['share-head'],
            cell: ofGroup((group) => {
              const share = shareOf(group.costNanoUsd, total);
              return (
                <Group justify="flex-end" gap={10} wrap="nowrap">
                  <Progress.Root className={classes['track']} flex={1} miw={36} size={6} aria-hidden>
                    <Progress.Section value={(share ?? 0) * 100} color={colorOf(group)} />
                  </Progress.Root>
                  <Text span w={38} ta="right" className="num dim small">
                    {formatShare(share)}
                  </Text>
                </Group>
              );
            }),
          },
          { head: 'Requests', className: 'right num wide-only', cell: ({ requests }) => formatWhole(requests) },
          ...tokenColumns<SpendGroup | Others>((item) => ('groups' in item ? undefined : item.tokens)),
        ]}
        items={items}
        keyOf={(item) => ('groups' in item ? 'others' : groupKey(item, by))}
      />
      {groups.length > FIRST && (
        <Button size="compact-sm" variant="subtle" mx={12} my={10} onClick={() => setAll(!all)}>
          {all ? `The first ${FIRST}` : `All ${groups.length + (otherGroups?.groups ?? 0)}`}
        </Button>
      )}
    </section>
  );
};
