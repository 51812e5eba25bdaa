import { Box, Group, Skeleton, Text } from '@mantine/core';
import { ArrowDownRight, ArrowRight, ArrowUpRight } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { relativeChange } from '../../../lambda/domain/spend/relative-change.ts';
import type { SpendChange, SpendPoint, SpendReport } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { locale } from '../format/locale.ts';
import { exactMoney, shownIn } from '../format/money.ts';
import { formatCompact, formatShare, plural } from '../format/quantity.ts';
import { bucketStart, formatClock, formatShortInstant, utcDate } from '../format/time.ts';
import type { Sum } from '../spend/headline.ts';
import classes from './tiles.module.css';
import type { useHeadline } from './use-overview.ts';

/** Above this ratio a change is shown as a factor: percentages get hard to read. */
const FACTOR_FROM = 9;

/** The change against an earlier amount. It has no colour: more is not always bad. */
export const Change = ({ now, before }: { readonly now: number | null; readonly before: number | null }) => {
  const change = relativeChange(now, before);
  if (change === null) return null;
  const Icon = Math.abs(change) < 0.005 ? ArrowRight : change > 0 ? ArrowUpRight : ArrowDownRight;
  return (
    <span className={`num ${classes['change']}`} title={`Before: ${exactMoney(before)}`}>
      <Icon size={14} aria-hidden />
      {change >= FACTOR_FROM
        ? `${formatCompact(change + 1)}×`
        : `${change > 0 ? '+' : change < 0 ? '−' : ''}${formatShare(Math.abs(change))}`}
    </span>
  );
};

interface AgainstProps {
  readonly of: SpendChange;
  readonly code: string | undefined;
  readonly children: ReactNode;
}

/** How a period compares with the one before it. */
export const Against = ({ of: { totals }, code, children }: AgainstProps) => (
  <>
    <Change now={totals.costNanoUsd} before={totals.costBeforeNanoUsd} /> vs{' '}
    <Money nano={totals.costBeforeNanoUsd} shown={shownIn({ displayCost: totals.displayCostBefore }, code)} />{' '}
    {children}
  </>
);

const Spark = ({ points }: { readonly points: readonly SpendPoint[] }) => {
  const most = Math.max(...points.map(({ costNanoUsd }) => costNanoUsd ?? 0), 0);
  if (most === 0) return null;
  return (
    <span className={classes['spark']} aria-hidden="true">
      {points.map(({ time, costNanoUsd }) => (
        <span key={time} style={{ height: `${Math.max(4, ((costNanoUsd ?? 0) / most) * 100)}%` }} />
      ))}
    </span>
  );
};

interface TileProps {
  readonly label: string;
  readonly sum: ReactNode;
  readonly children: ReactNode;
  readonly spark?: ReactNode;
}

const Tile = ({ label, sum, children, spark }: TileProps) => (
  <div className={`card ${classes['tile']}`}>
    <span className="label">{label}</span>
    <Group justify="space-between" align="flex-end" gap={20} wrap="nowrap">
      <span className={classes['amount']}>{sum}</span>
      {spark}
    </Group>
    <Box className="dim small" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Box>
  </div>
);

/** The requests that a sum does not include. */
const Missing = ({ of, untracked }: { readonly of: Sum; readonly untracked: number }) => (
  <>
    {of.unpricedRequests > 0 && (
      <div className="unknown">+ {plural(of.unpricedRequests, 'request')} of unknown cost</div>
    )}
    {of.mayAlsoMatch.requests > 0 && (
      <div className="unknown">
        + up to <Money nano={of.mayAlsoMatch.costNanoUsd} /> that may match
      </div>
    )}
    {untracked > 0 && <div className="unknown">+ up to {plural(untracked, 'untracked request')}</div>}
  </>
);

type Currency = NonNullable<SpendReport['displayCurrency']>;

interface FigureProps {
  readonly of: Pick<Sum, 'costNanoUsd' | 'displayCost'>;
  readonly code: string | undefined;
}

/** An amount in US dollars, next to the same in the display currency. */
const InDollars = (props: ComponentProps<typeof Money>) => (
  <Text span ml={8} fz={14} fw={500} lts={0} c="dimmed" display="inline-block">
    <Money {...props} />
  </Text>
);

/** A sum in the display currency, with the US dollars next to it; without a currency or rate in US dollars alone. */
export const Figure = ({ of, code }: FigureProps) => (
  <>
    <Money nano={of.costNanoUsd} shown={shownIn(of, code)} />
    {code !== undefined && of.displayCost && <InDollars nano={of.costNanoUsd} />}
  </>
);

/** Rounded: it is not known to the cent. In the display currency at the rate of today. */
const Forecast = ({ nano, currency }: { readonly nano: number | null; readonly currency: Currency | undefined }) => {
  const decimal = nano === null || !currency?.perUsd ? null : String((nano / 1e9) * Number(currency.perUsd));
  return (
    <>
      {nano !== null && '≈\u00a0'}
      <Money nano={nano} as="rough" shown={currency && { decimal, code: currency.code }} />
      {decimal !== null && <InDollars nano={nano} as="rough" />}
    </>
  );
};

const monthLong = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' });

interface TilesProps {
  readonly today: ReturnType<typeof useHeadline>['today'];
  readonly month: ReturnType<typeof useHeadline>['month'];
  readonly currency: Currency | undefined;
}

/** Today, this month, and the forecast for the month. */
export const Tiles = ({ today, month, currency }: TilesProps) => {
  const code = currency?.code;
  const now = new Date();
  const dayBegan = formatClock(bucketStart(utcDate(now)));
  const isUtc = now.getTimezoneOffset() === 0;
  return (
    <div className={classes['tiles']}>
      {today ? (
        <Tile
          label={isUtc ? 'Today' : `Today (UTC, since ${dayBegan})`}
          sum={<Figure of={today.sum} code={code} />}
          spark={<Spark points={today.hours} />}
        >
          {today.change && (
            <Against of={today.change} code={code}>
              yesterday until {formatClock(new Date(today.change.before.to))}
            </Against>
          )}
          <Missing of={today.sum} untracked={today.untrackedRequests} />
        </Tile>
      ) : (
        <TileSkeleton />
      )}
      {month ? (
        <>
          <Tile
            label={`${monthLong.format(now)} so far`}
            sum={<Figure of={month.sum} code={code} />}
            spark={<Spark points={month.days} />}
          >
            {month.change && (
              <Against of={month.change} code={code}>
                last month until {formatShortInstant(month.change.before.to)}
              </Against>
            )}
            <Missing of={month.sum} untracked={month.untrackedRequests} />
          </Tile>
          <Tile
            label={`Forecast for ${monthLong.format(now)}`}
            sum={<Forecast nano={month.forecastNanoUsd} currency={currency} />}
          >
            <Change now={month.forecastNanoUsd} before={month.lastMonth.costNanoUsd} /> vs{' '}
            <Money nano={month.lastMonth.costNanoUsd} shown={shownIn(month.lastMonth, code)} /> last month
            <div>{month.forecastNanoUsd === null ? 'needs a week of requests' : 'at the rate of the last 7 days'}</div>
          </Tile>
        </>
      ) : (
        <>
          <TileSkeleton />
          <TileSkeleton />
        </>
      )}
    </div>
  );
};

const TileSkeleton = () => (
  <div className={`card ${classes['tile']}`} aria-hidden="true">
    <Skeleton height={12} width={110} my={3} />
    <Skeleton height={28} width={130} my={5} />
    <Skeleton height={12} width="72%" my={4} />
    <Skeleton height={12} width="48%" my={3} />
  </div>
);
