import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { lazy, Suspense, useCallback } from 'react';
import { useApi } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { formatAxisMoney, formatMoney } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { formatBucketLong } from '../format/time.ts';
import { collectionOf, type LimitValues, previewOf } from './limit-form.ts';
import { conditionProblems } from './limit-problems.ts';
import { formatFigure, limitTypes } from './limit-types.ts';
import classes from './limits.module.css';

const BacktestChart = lazy(() => import('./backtest-chart.tsx'));

const TYPING_MS = 400;
const ALERTS_SHOWN = 5;

/** The hour or day that ends at `by`, in words. */
const bucketOf = (by: string, period: LimitValues['period']): string =>
  formatBucketLong(new Date(Date.parse(by) - 1).toISOString().slice(0, period === 'hourly' ? 13 : 10));

/** When alerts would have been sent in the last 30 days, drawn before the limit is saved. */
export const BacktestCard = ({ values }: { readonly values: LimitValues }) => {
  const api = useApi();
  const key = JSON.stringify(previewOf(values));
  const [typed] = useDebouncedValue(key, TYPING_MS);
  const enabled = Object.values(conditionProblems(values)).every((problem) => problem === null);
  const { period } = values;
  const preview = api.useQuery(
    'post',
    `${collectionOf(values)}/preview` as '/alert-rules/preview',
    { body: JSON.parse(typed) },
    { enabled: enabled && typed === key, placeholderData: keepPreviousData },
  );
  const { bars, isForecast = false } = limitTypes[values.type];
  const { firings: alerts, points, unit, requests } = preview.data ?? {};
  const formatValue = useCallback(
    (value: number) => formatFigure(unit ?? 'requests', value, isForecast),
    [unit, isForecast],
  );
  const verdict =
    alerts &&
    (requests === 0
      ? 'No request matches.'
      : alerts.length === 0
        ? 'It would not have fired.'
        : `It would have fired ${plural(alerts.length, 'time')}.`);
  const unjudged = preview.data?.unjudgedPeriods ?? 0;
  const { error } = preview;
  return (
    <section className="card card-pad" aria-labelledby="backtest" aria-busy={preview.isFetching}>
      <div className="card-head">
        <h2 id="backtest">The last 30 days</h2>
        <Text component="output" fz="sm" fw={600}>
          {enabled ? (verdict ?? '…') : 'Complete the rule to test it.'}
        </Text>
      </div>
      {error && <ProblemNote error={error} title="The rule could not be tested" />}
      {!error && (
        <Suspense fallback={<Skeleton className={classes['chart']} />}>
          {points ? (
            <BacktestChart
              points={points}
              formatAxis={unit === 'nanoUsd' ? formatAxisMoney : formatValue}
              formatValue={formatValue}
              label={`The last 30 days: ${verdict ?? ''}`}
            />
          ) : (
            <Skeleton className={classes['chart']} animate={enabled} />
          )}
        </Suspense>
      )}
      {!error && requests === 0 && (
        <p className="unknown small">
          No request of the last 30 days matches the filter: this cannot show whether the rule would fire.
        </p>
      )}
      {!error && (
        <Text component="p" mt={10} className="dim small">
          Bars: {bars}. Dashed: the limit.
          {points?.some(({ usual }) => usual !== null) && ' Dotted: the median.'} Red: the rule would have fired.
          {unjudged > 0 &&
            ` In ${unjudged} of ${plural(preview.data?.periods ?? 0, 'period')} there was too little usage to judge by.`}
        </Text>
      )}
      {preview.data?.mayAlsoMatch && !error && (
        <p className="unknown small">
          Up to {plural(preview.data.mayAlsoMatch.requests, 'more request')} for{' '}
          {formatMoney(preview.data.mayAlsoMatch.costNanoUsd)} may match the filter: they were counted under (other).
          The names of an active rule are counted separately.
        </p>
      )}
      {alerts && alerts.length > 0 && !error && (
        <Stack component="ul" gap={5} mt={14} mb={0} p={0} fz={13}>
          {alerts
            .slice(-ALERTS_SHOWN)
            .toReversed()
            .map(({ period: { start }, by, event, unit, observed, limit }) => (
              <Group component="li" key={`${start} ${event}`} justify="space-between">
                <span className="dim">
                  {bucketOf(by, period)}
                  {event === 'used_up' && ', used up'}
                </span>
                <span className="num">
                  {formatFigure(unit, observed, event === 'forecast')}{' '}
                  <span className="dim">of {formatFigure(unit, limit)}</span>
                </span>
              </Group>
            ))}
          {alerts.length > ALERTS_SHOWN && <li className="dim">and {alerts.length - ALERTS_SHOWN} earlier</li>}
        </Stack>
      )}
    </section>
  );
};
