import { Alert, Radio, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import type { Budget } from '../api/responses.ts';
import { Money, useMayMatch, WithAmounts } from '../components/amount.tsx';
import { Fact } from '../components/page.tsx';
import { formatPeriod } from '../format/time.ts';
import { EditorForm, EditorPage, LoadedItem, type Query } from '../forms/editor.tsx';
import type { LimitSearch } from '../search.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { BacktestCard } from './backtest-card.tsx';
import { TestChannels } from './channel-fields.tsx';
import { LimitFields } from './limit-fields.tsx';
import {
  bodyOf,
  collectionOf,
  emptyLimit,
  type Limit,
  type LimitValues,
  limitText,
  valuesOf,
  WHOLE,
  withType,
} from './limit-form.ts';
import { limitProblems } from './limit-problems.ts';
import { type LimitType, limitTypeList } from './limit-types.ts';
import { ValuesOfLimit } from './limit-values.tsx';
import classes from './limits.module.css';
import { boundaryText, refusedText } from './names.ts';
import { useLimits } from './use-limits.ts';
import { Used } from './used.tsx';

/** The use of a budget, and what it does now. */
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

/** A limit as a page that links here proposes it. */
const newLimit = ({ type, ...filter }: LimitSearch): LimitValues => ({
  ...emptyLimit(limitTypeList.find((each) => each.type === type)?.type ?? 'cost_threshold'),
  ...(filter as Partial<LimitValues>),
});

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
