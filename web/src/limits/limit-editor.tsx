import { Alert, Group, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { BacktestPoint, Budget } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Bars } from '../chart/bars.tsx';
import chartClasses from '../chart/chart.module.css';
import { Money, useMayMatch, WithAmounts } from '../components/amount.tsx';
import { CardHead, Fact, LoadProblem } from '../components/page.tsx';
import { formatAxisMoney, plural } from '../format/numbers.ts';
import { formatBucketLong, formatPeriod } from '../format/time.ts';
import { EditorForm, EditorPage, LoadedItem, type Query } from '../forms/editor.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { TestChannels } from './channel-fields.tsx';
import { LimitFields } from './limit-fields.tsx';
import {
  bodyOf,
  collectionOf,
  type Limit,
  type LimitValues,
  limitText,
  newLimit,
  previewOf,
  valuesOf,
  WHOLE,
  withType,
} from './limit-form.ts';
import { conditionProblems, limitProblems } from './limit-problems.ts';
import { formatFigure, type LimitType, limitTypeList, limitTypes } from './limit-types.ts';
import { ValuesOfLimit } from './limit-values.tsx';
import classes from './limits.module.css';
import { boundaryText, refusedText } from './names.ts';
import { useLimits, useSeesPart, useTyped } from './use-limits.ts';
import { Used } from './used.tsx';

interface ChartProps {
  readonly points: readonly BacktestPoint[];
  readonly formatAxis: (value: number) => string;
  readonly formatValue: (value: number) => string;
  readonly label: string;
}

/** The last 30 days as the limit would have seen them. Red bars: it would have fired. */
const Chart = ({ points, formatAxis, formatValue, label }: ChartProps) => {
  const fired = new Set(points.filter(({ fired }) => fired).map(({ time }) => time));
  return (
    <Bars
      bars={points.map(({ time, figure }) => ({ time, values: [figure] }))}
      colorOf={({ time }) => (fired.has(time) ? 'var(--bad)' : 'var(--series-other)')}
      lines={[
        { color: 'var(--ink)', dash: '5 4', values: points.map(({ limit }) => limit) },
        { color: 'var(--ink)', dash: '1.5 3', values: points.map(({ usual }) => usual) },
      ]}
      formatAxis={formatAxis}
      label={label}
      tip={(index) => {
        const { time, figure, limit, usual } = points[index] as BacktestPoint;
        return (
          <>
            <strong>{formatBucketLong(time)}</strong>
            {figure !== null && <div>{formatValue(figure)}</div>}
            {limit !== null && <div>limit {formatValue(limit)}</div>}
            {usual !== null && <div>median {formatValue(usual)}</div>}
          </>
        );
      }}
    />
  );
};

const TITLE = 'The last 30 days';
const ALERTS_SHOWN = 5;

/** The period that an alert is of, in words, and the day by which a longer one reached the limit: it may be before the first bar. */
const reachedText = (start: string, by: string, period: LimitValues['period'], first: string | undefined): string => {
  const bucket = new Date(Date.parse(by) - 1).toISOString().slice(0, period === 'hourly' ? 13 : 10);
  if (period === 'hourly' || period === 'daily') return formatBucketLong(bucket);
  const name =
    period === 'monthly' ? formatBucketLong(start.slice(0, 7)) : `From ${formatBucketLong(start.slice(0, 10))}`;
  return `${name}: ${bucket === first && start.slice(0, 10) < bucket ? 'before or on' : 'on'} ${formatBucketLong(bucket)}`;
};

/** When alerts would have been sent in the last 30 days, drawn before the limit is saved. */
const BacktestCard = ({ values }: { readonly values: LimitValues }) => {
  const api = useApi();
  const mayMatch = useMayMatch();
  const [body, isTyped] = useTyped(previewOf(values));
  const asksForPart = useSeesPart() && [values.project, values.key, values.member].every((id) => id === '');
  const enabled = !asksForPart && Object.values(conditionProblems(values)).every((problem) => problem === null);
  const { period } = values;
  const preview = api.useQuery(
    'post',
    `${collectionOf(values)}/preview` as '/alert-rules/preview',
    { body: body as never },
    { enabled: enabled && isTyped, placeholderData: keepPreviousData },
  );
  const { bars, isForecast = false } = limitTypes[values.type];
  const { alerts, points, unit, requests } = preview.data ?? {};
  const formatValue = (value: number) => formatFigure(unit ?? 'requests', value, isForecast);
  const verdict =
    alerts &&
    (requests === 0
      ? 'No request matches.'
      : alerts.length === 0
        ? 'It would not have fired.'
        : `It would have fired ${plural(alerts.length, 'time')}.`);
  const unjudged = preview.data?.unjudgedPeriods ?? 0;
  return (
    <section className="card card-pad" aria-label={TITLE} aria-busy={preview.isFetching}>
      <CardHead title={TITLE}>
        <Text component="output" fz="sm" fw={600}>
          {enabled && (verdict ?? (preview.error ? 'not known' : '…'))}
          {!enabled &&
            (asksForPart ? 'Filter by a project, key or member to test it.' : 'Complete the rule to test it.')}
        </Text>
      </CardHead>
      {/* It may have been asked before the reader's role was known. */}
      {enabled && <LoadProblem query={preview} title="The rule could not be tested" />}
      {points ? (
        <Chart
          points={points}
          formatAxis={unit === 'nanoUsd' ? formatAxisMoney : formatValue}
          formatValue={formatValue}
          label={`The last 30 days: ${verdict ?? ''}`}
        />
      ) : (
        !(enabled && preview.error) && <Skeleton className={chartClasses['chart']} animate={enabled} />
      )}
      {requests === 0 && (
        <p className="unknown small">
          No request of the last 30 days matches the filter: this cannot show whether the rule would fire.
        </p>
      )}
      {!preview.isLoadingError && (
        <Text component="p" mt={10} className="dim small">
          Bars: {bars}. Dashed: the limit.
          {points?.some(({ usual }) => usual !== null) && ' Dotted: the median.'} Red: it would have fired.
          {unjudged > 0 &&
            ` In ${unjudged} of ${plural(preview.data?.periods ?? 0, 'period')} there was too little usage to judge by.`}
        </Text>
      )}
      {preview.data?.mayAlsoMatch && (
        <p className="unknown small">
          Up to {mayMatch(preview.data.mayAlsoMatch)} may match the filter: they were counted under (other). The names
          of an active rule are counted separately.
        </p>
      )}
      {alerts && alerts.length > 0 && (
        <Stack component="ul" gap={5} mt={14} mb={0} p={0} fz={13}>
          {alerts
            .slice(-ALERTS_SHOWN)
            .toReversed()
            .map(({ period: { start }, by, event, unit, figure, limit }) => (
              <Group component="li" key={`${start} ${event}`} justify="space-between" gap="0 16px">
                <span className="dim">
                  {reachedText(start, by, period, points?.[0]?.time)}
                  {event === 'used_up' && ', used up'}
                </span>
                <span className="num">
                  {formatFigure(unit, figure, event === 'forecast')}{' '}
                  <span className="dim">of {formatFigure(unit, limit)}</span>
                </span>
              </Group>
            ))}
          {alerts.length > ALERTS_SHOWN && (
            <Group component="li" className="dim">
              and {alerts.length - ALERTS_SHOWN} earlier
            </Group>
          )}
        </Stack>
      )}
    </section>
  );
};

const BudgetState = ({ budget }: { readonly budget: Budget }) => {
  const keyNames = useKeyNames();
  const mayMatch = useMayMatch();
  const { period, knownNanoUsd, usedNanoUsd, isBlocking, mayAlsoMatch, bound } = budget.state;
  return (
    <section className="card card-pad" aria-label="Now">
      {isBlocking && (
        <Alert color="red" mb="md" title={`The gateway refuses ${refusedText(budget.filter, keyNames)}`}>
          {period && `Until ${boundaryText(period.end)}. `}Raise the amount, or switch the budget off: requests pass
          again within seconds.
        </Alert>
      )}
      <Used budget={budget} />
      <dl className="facts">
        {period && (
          <Fact name={period.name === 'hourly' ? 'Period' : 'Period (UTC)'}>
            {formatPeriod(period.start, period.end)}
          </Fact>
        )}
        {knownNanoUsd !== usedNanoUsd && (
          <Fact name="Known cost">
            <Money nano={knownNanoUsd} />
          </Fact>
        )}
      </dl>
      {mayAlsoMatch && (
        <p className="unknown small">
          Up to {mayMatch(mayAlsoMatch)} may match the filter: they were counted under (other).
        </p>
      )}
      {bound && (
        <p className="dim small">
          {bound.nanoUsd === null ? (
            'How much more can be spent once it is used up is not known yet.'
          ) : (
            <>
              Up to <Money nano={bound.nanoUsd} /> more can be spent once it is used up.
            </>
          )}{' '}
          <WithAmounts text={bound.because} /> What runs by then goes on.
        </p>
      )}
    </section>
  );
};

interface TypeChoiceProps {
  readonly value: LimitType;
  readonly onChange: (type: LimitType) => void;
}

const TypeChoice = ({ value, onChange }: TypeChoiceProps) => (
  <Radio.Group label="Notify me about" value={value} onChange={(type) => onChange(type as LimitType)}>
    <Stack gap={8} mt={6}>
      {limitTypeList.map(({ type, name, what }) => (
        <Radio.Card key={type} value={type} className={classes['type']}>
          <Radio.Indicator />
          <Stack component="span" gap={0} lh={1.35}>
            <strong>{name}</strong>
            <span className="dim small">{what}</span>
          </Stack>
        </Radio.Card>
      ))}
    </Stack>
  </Radio.Group>
);

interface EditorProps {
  readonly limit?: Limit;
  readonly initial: LimitValues;
  readonly query?: Query;
}

const Editor = ({ limit, initial, query }: EditorProps) => {
  const keyNames = useKeyNames();
  const form = useForm<LimitValues>({ initialValues: initial, validate: limitProblems });
  const choose = (type: LimitType) => {
    form.setValues(withType(form.values, type));
    form.clearErrors();
  };
  const collection = collectionOf(form.values);
  return (
    <EditorPage
      collection={collection}
      title={limit?.name ?? 'New limit'}
      about={limit && limitText(limit, keyNames)}
      query={query}
      now={limit && 'state' in limit && <BudgetState budget={limit} />}
      side={
        <Stack>
          {limit && 'state' in limit && limit.each && <ValuesOfLimit budget={limit} />}
          {form.values.perEach === '' && <BacktestCard values={form.values} />}
        </Stack>
      }
    >
      <EditorForm
        collection={collection}
        item={limit}
        form={form}
        bodyOf={bodyOf}
        whole={WHOLE}
        actions={limit && <TestChannels stored={limit} />}
      >
        {!limit && <TypeChoice value={form.values.type} onChange={choose} />}
        <LimitFields form={form} isStored={limit !== undefined} />
      </EditorForm>
    </EditorPage>
  );
};

export const NewLimit = () => <Editor initial={newLimit(getRouteApi('/members/limits/new').useSearch())} />;

export const EditLimit = () => {
  const { limitId } = getRouteApi('/members/limits/$limitId').useParams();
  const query = useLimits();
  return (
    <LoadedItem collection="/alert-rules" query={query} item={query.data?.items.find(({ id }) => id === limitId)}>
      {(limit) => <Editor key={limit.id} limit={limit} initial={valuesOf(limit)} query={query} />}
    </LoadedItem>
  );
};
