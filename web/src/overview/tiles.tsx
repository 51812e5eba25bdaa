import { Box, Group, Skeleton, Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import type { SpendPoint, SpendReport } from '../api/responses.ts';
import { AtRate, Cost, Money, Unpriced, useMayMatch } from '../components/amount.tsx';
import { plural, shownIn } from '../format/numbers.ts';
import { locale, readsDollars } from '../format/reading.ts';
import { formatClock, formatShortInstant, startInZone, timeZone, zoneName } from '../format/time.ts';
import { Against, Change } from '../spend/change.tsx';
import type { Sum } from '../spend/headline.ts';
import classes from './tiles.module.css';
import type { useHeadline } from './use-overview.ts';

const Spark = ({ points }: { readonly points: readonly SpendPoint[] }) => {
  const most = Math.max(...points.map(({ costNanoUsd }) => costNanoUsd ?? 0), 0);
  if (most === 0) return null;
  return (
    <span className={`painted ${classes['spark']}`} aria-hidden="true">
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
const Missing = ({ of, untracked }: { readonly of: Sum; readonly untracked: number }) => {
  const mayMatch = useMayMatch();
  return (
    <>
      <div>
        <Unpriced of={of.unpricedRequests} />
      </div>
      {of.mayAlsoMatch.requests > 0 && <div className="unknown">+ up to {mayMatch(of.mayAlsoMatch)} may match</div>}
      {untracked > 0 && <div className="unknown">+ up to {plural(untracked, 'untracked request')}</div>}
    </>
  );
};

type Currency = NonNullable<SpendReport['displayCurrency']>;

interface FigureProps {
  readonly of: Pick<Sum, 'costNanoUsd' | 'displayCost'>;
  readonly code: string | undefined;
}

/** An amount in US dollars, next to the same in the display currency. */
const InDollars = (props: ComponentProps<typeof Money>) => (
  <Text span ml={8} fz={14} fw={500} lts={0} c="dimmed" display="inline-block">
    <AtRate value={undefined}>
      <Money {...props} />
    </AtRate>
  </Text>
);

/** A sum in the display currency, with the US dollars next to it; without a currency or rate in US dollars only. */
export const Figure = ({ of, code }: FigureProps) => (
  <>
    <Cost of={of} code={code} />
    {shownIn(of, code)?.decimal && <InDollars nano={of.costNanoUsd} />}
  </>
);

/** Rounded: it is not known to the cent. In the display currency at the rate of today. */
const Forecast = ({ nano, currency }: { readonly nano: number | null; readonly currency: Currency | undefined }) => {
  const decimal =
    nano === null || !currency?.perUsd || readsDollars ? null : String((nano / 1e9) * Number(currency.perUsd));
  return (
    <>
      {nano !== null && '≈\u00a0'}
      <Money nano={nano} as="rough" shown={currency && { decimal, code: currency.code }} />
      {decimal !== null && <InDollars nano={nano} as="rough" />}
    </>
  );
};

interface TilesProps {
  readonly today: ReturnType<typeof useHeadline>['today'];
  readonly month: ReturnType<typeof useHeadline>['month'];
  /** What has not come will not: the page says why. */
  readonly hasFailed: boolean;
  readonly currency: Currency | undefined;
  /** Whose days and months they are. */
  readonly zone: string;
}

interface SoFarProps {
  readonly label: string;
  readonly period: NonNullable<TilesProps['today'] | TilesProps['month']>;
  readonly points: readonly SpendPoint[];
  readonly code: string | undefined;
  /** Names the period before, up to the same time. */
  readonly before: (end: string) => string;
}

/** A period that still runs, against the one before it. */
const SoFar = ({ label, period: { sum, change, untrackedRequests }, points, code, before }: SoFarProps) => (
  <Tile label={label} sum={<Figure of={sum} code={code} />} spark={<Spark points={points} />}>
    {change && (
      <Against of={change} shownNano={sum.costNanoUsd} code={code}>
        {before(change.before.to)}
      </Against>
    )}
    <Missing of={sum} untracked={untrackedRequests} />
  </Tile>
);

export const Tiles = ({ today, month, hasFailed, currency, zone }: TilesProps) => {
  const code = currency?.code;
  const now = new Date();
  const began = startInZone(zone, dayIn(zone, now));
  const isOwn = began.getTime() === startInZone(timeZone, dayIn(timeZone, now)).getTime();
  const monthName = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: zone }).format(now);
  const skeleton = !hasFailed && <TileSkeleton />;
  return (
    <div className={classes['tiles']}>
      {today ? (
        <SoFar
          label={isOwn ? 'Today' : `Today (${zoneName(zone)}, since ${formatClock(began)})`}
          period={today}
          points={today.hours}
          code={code}
          before={(end) => `yesterday until ${formatClock(new Date(end))}`}
        />
      ) : (
        skeleton
      )}
      {month ? (
        <>
          <SoFar
            label={`${monthName} so far`}
            period={month}
            points={month.days}
            code={code}
            before={(end) => `by ${formatShortInstant(end)}`}
          />
          <Tile label={`Forecast for ${monthName}`} sum={<Forecast nano={month.forecastNanoUsd} currency={currency} />}>
            <Change
              of={{ costNanoUsd: month.forecastNanoUsd, costBeforeNanoUsd: month.lastMonth.costNanoUsd }}
              code={undefined}
            />{' '}
            {month.forecastNanoUsd === null ? 'Last month:' : 'vs'} <Cost of={month.lastMonth} code={code} />
            {month.forecastNanoUsd !== null && ' last month'}
            <div>
              {month.forecastNanoUsd === null
                ? 'needs a week of requests of known cost'
                : 'at the rate of the last 7 days'}
            </div>
          </Tile>
        </>
      ) : (
        <>
          {skeleton}
          {skeleton}
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
