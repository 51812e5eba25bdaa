import { Alert, type AlertProps, Box, Button, Group, Progress, Text, UnstyledButton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { CircleCheck, History, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Budget, SpendGroup, SpendReport, SpendTotals } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Cost, Money, Unpriced, useMayMatch } from '../components/amount.tsx';
import { AnchorLink, Card, CardHead, Fact, LimitLink, LoadProblem, TextLink } from '../components/page.tsx';
import { Name, Table, tokenColumns } from '../components/table.tsx';
import { formatLimit, formatShare, formatWhole, plural } from '../format/numbers.ts';
import { formatInstants, utcDayText } from '../format/time.ts';
import { OnCourse, usedText } from '../limits/used.tsx';
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
            cell: (item) => <Cost of={item} code={code} />,
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

const BUDGETS_SHOWN = 4;

const usedOf = ({ state }: Budget): number => state.percentUsed ?? 0;

const BudgetFact = ({ budget }: { readonly budget: Budget }) => {
  const { id, name, amount, state } = budget;
  const what = (
    <>
      <OnCourse nano={state.projectedNanoUsd} /> <Unpriced of={state.unpricedRequests} />
    </>
  );
  return (
    <Fact name={<LimitLink id={id}>{name}</LimitLink>} what={what} warns={usedOf(budget) >= 100}>
      {usedText(budget)} of {formatLimit(amount)}
    </Fact>
  );
};

/** The budgets in force, those that are used most first. Budgets for each of a dimension have pages of their own. */
export const Budgets = ({ budgets }: { readonly budgets: readonly Budget[] }) => {
  const inForce = budgets
    .filter(({ isActive, state }) => isActive && state.period !== null && state.percentUsed !== null)
    .toSorted((left, right) => usedOf(right) - usedOf(left));
  if (inForce.length === 0) return null;
  const all = inForce.length > BUDGETS_SHOWN && (
    <AnchorLink size="sm" to="/limits">
      All {inForce.length}
    </AnchorLink>
  );
  return (
    <Card title="Budgets" action={all}>
      <dl className="facts">
        {inForce.slice(0, BUDGETS_SHOWN).map((budget) => (
          <BudgetFact key={budget.id} budget={budget} />
        ))}
      </dl>
    </Card>
  );
};

/** Neutral colours: those of the chart stand for models and other names. */
const provenances = [
  { kind: 'provider', name: 'Reported', color: 'var(--ink)', what: 'The provider reported the cost itself.' },
  {
    kind: 'computed',
    name: 'Computed',
    color: 'var(--dim)',
    what: 'The usage that the provider reported, at the prices of the price book.',
  },
  {
    kind: 'estimated',
    name: 'Estimated',
    color: 'var(--series-other)',
    what: 'Usage is estimated, such as for interrupted responses.',
  },
] as const;

export const Provenance = ({ totals }: { readonly totals: SpendTotals }) => {
  const total = totals.costNanoUsd ?? 0;
  const rows = provenances.map((each) => ({ ...each, nano: totals.costByProvenance[each.kind].costNanoUsd ?? 0 }));
  return (
    <Card title="How costs are known">
      {totals.costNanoUsd === null ? (
        <p className="unknown small">No cost is known.</p>
      ) : (
        <>
          <Progress.Root size={10} aria-hidden>
            {total > 0 &&
              rows.map(({ kind, color, nano }) => (
                <Progress.Section key={kind} value={(nano / total) * 100} color={color} />
              ))}
          </Progress.Root>
          <dl className="facts">
            {rows.map(({ kind, name, color, what, nano }) => (
              <div key={kind} title={what}>
                <dt>
                  <span className="swatch" style={{ background: color }} aria-hidden="true" />
                  {name}
                </dt>
                <dd>
                  <span className="dim num">{total > 0 ? formatShare(nano / total) : '–'}</span>
                  <Money nano={nano} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Card>
  );
};

type CountName = {
  [K in keyof SpendTotals]-?: SpendTotals[K] extends number ? K : never;
}[keyof SpendTotals];

type Kind = readonly [CountName, name: string, what: string];

/** Requests that make the figures too low, by an unknown amount. */
const missing: readonly Kind[] = [
  ['unpricedRequests', 'Unknown cost', 'Counted as requests, but not in the cost.'],
  ['unfinishedRequests', 'Unfinished', 'Still running, or their end was never recorded.'],
  ['partialRequests', 'Read in part', 'The response was interrupted: usage may be too low.'],
];

/** Requests that the figures include, and that may surprise. */
const included: readonly Kind[] = [
  ['bypassedRequests', 'Bypassed', 'Forwarded before they were sure to be on record; still counted.'],
  ['confirmedLateRequests', 'Confirmed late', 'Bypassed because tracking was slow; for the others it failed.'],
  ['overflowRequests', 'Under (other)', 'Too many distinct tags or models to list each.'],
  ['errors', 'Failed requests', 'The provider rejected the request, failed or was interrupted.'],
  ['freeRequests', 'Free requests', 'Cost nothing, such as listing models.'],
];

export const Coverage = ({ totals, untracked }: Pick<SpendReport, 'totals' | 'untracked'>) => {
  const factsOf = (kinds: readonly Kind[], warns: boolean) =>
    kinds
      .filter(([count]) => totals[count] > 0)
      .map(([count, name, what]) => (
        <Fact key={count} name={name} what={what} warns={warns}>
          {formatWhole(totals[count])}
        </Fact>
      ));
  const [missed, surprising] = [factsOf(missing, true), factsOf(included, false)];
  return (
    <Card title="Missing from the figures">
      {missed.length === 0 && untracked.requests === 0 ? (
        <Group gap={8} fz="sm" c="var(--good)">
          <CircleCheck size={17} aria-hidden /> Nothing: every request has a cost.
        </Group>
      ) : (
        <dl className="facts">
          {untracked.requests > 0 && (
            <Fact name="Untracked" what="Forwarded, but not in any figure." warns>
              ≤ {formatWhole(untracked.requests)}
            </Fact>
          )}
          {missed}
        </dl>
      )}
      {surprising.length > 0 && (
        <>
          <Box component="h3" className="label" mt={16} pt={14} style={{ borderTop: '1px solid var(--line)' }}>
            Included in the figures
          </Box>
          <dl className="facts">{surprising}</dl>
        </>
      )}
    </Card>
  );
};

const Warning = (props: AlertProps) => (
  <Alert role="status" color="yellow" icon={<TriangleAlert size={18} />} {...props} />
);

const GAPS_SHOWN = 3;

/** Warns of requests that no figure includes: at most how many, and when. */
export const Untracked = ({ untracked: { requests, gaps } }: Pick<SpendReport, 'untracked'>) => {
  if (requests === 0) return null;
  const latest = gaps.slice(-GAPS_SHOWN).toReversed();
  const earlier = gaps.length - latest.length;
  return (
    <Warning title={`Up to ${plural(requests, 'request')} went untracked`}>
      They were forwarded while tracking was failing. No figure on this page includes them; filters do not apply.
      <ul>
        {latest.map(({ from, to, requests: count }) => (
          <li key={from}>
            <strong className="num">{formatInstants(from, to)}</strong>{' '}
            <span className="num">up to {formatWhole(count)}</span>
          </li>
        ))}
        {earlier > 0 && <li>and {plural(earlier, 'earlier gap')}</li>}
      </ul>
    </Warning>
  );
};

/** Warns that a filter may match more than the figures have: requests whose names were counted under (other), or are not known. */
export const MayAlsoMatch = ({ of: mayAlsoMatch }: { readonly of: NonNullable<SpendReport['mayAlsoMatch']> }) => {
  const mayMatch = useMayMatch();
  return (
    <Warning title={`Up to ${mayMatch(mayAlsoMatch)} may match the filter`}>
      {plural(mayAlsoMatch.requests, 'request')} had more distinct names than are listed, or came before the dimension
      was declared. The figures on this page do not include them.
    </Warning>
  );
};

const SHOWN_DAYS = 14;

/** On the overview: new prices changed figures that were shown before. Dismissed for each version, in this browser. */
export const NewPrices = () => {
  const [seen, setSeen] = useLocalStorage({
    key: 'price-version-seen',
    defaultValue: 0,
    getInitialValueInEffect: false,
  });
  const query = useApi().useQuery('get', '/price-changes');
  const fresh = (query.data?.items ?? []).filter(
    ({ version, repricedAt }) => version > seen && Date.parse(repricedAt) > Date.now() - SHOWN_DAYS * DAY_MS,
  );
  const [newest] = fresh;
  if (!newest) return <LoadProblem query={query} title="Changes of prices could not be loaded" />;
  const requests = fresh.reduce((sum, each) => sum + each.requests, 0);
  const difference = fresh.reduce((sum, { nanoUsdAfter, nanoUsdBefore }) => sum + nanoUsdAfter - nanoUsdBefore, 0);
  const firstDay = fresh.map((each) => each.firstDay).sort()[0] ?? newest.firstDay;
  return (
    <Alert
      color="blue"
      icon={<History size={18} />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={() => setSeen(newest.version)}
    >
      New prices changed the cost of {plural(requests, 'request')} since {utcDayText(firstDay)}, by{' '}
      <Money as="change" nano={difference} />. <TextLink to="/price-changes">What changed</TextLink>
    </Alert>
  );
};
