import { NativeSelect, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { startOf } from '../../../lambda/domain/calendar/utc.ts';
import { Cost, Unpriced } from '../components/amount.tsx';
import { LoadProblem } from '../components/page.tsx';
import { plural } from '../format/numbers.ts';
import { EditorForm } from '../forms/editor.tsx';
import { spendFiltersOf } from '../scope/scope.ts';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { parametersOf } from '../spend/filters.ts';
import { useSpend } from '../spend/use-spend.ts';
import {
  bodyOf,
  durations,
  emptyPause,
  type PauseStart,
  type PauseValues,
  pauseProblems,
  scopeMembers,
} from './pause-form.ts';
import { useTyped } from './use-limits.ts';

/** The requests of the last 24 hours that the pause would have refused. A session has no sums by hour. */
const Preview = ({ values }: { readonly values: PauseValues }) => {
  const [scope] = useTyped(bodyOf(values).scope);
  const filters = spendFiltersOf(scope);
  const enabled = Object.keys(filters).length > 0 && values.session === '';
  const from = startOf('hour', new Date(Date.now() - DAY_MS)).toISOString();
  const query = useSpend({ from, granularity: 'hour', ...parametersOf(filters) }, { enabled });
  const { data } = query;
  if (!data) return <LoadProblem query={query} title="What it would have refused could not be loaded" />;
  return (
    <Text size="sm" component="output">
      In the last 24 hours it would have refused <strong>{plural(data.totals.requests, 'request')}</strong> for{' '}
      <Cost of={data.totals} code={data.displayCurrency?.code} /> <Unpriced of={data.totals.unpricedRequests} />
    </Text>
  );
};

const CreatePause = ({ start, onClose }: { readonly start: PauseStart; readonly onClose: () => void }) => {
  const form = useForm<PauseValues>({ initialValues: { ...emptyPause, ...start }, validate: pauseProblems });
  return (
    <EditorForm collection="/pauses" item={undefined} form={form} bodyOf={bodyOf} whole={['minutes']} onClose={onClose}>
      <Text size="sm">
        The gateway refuses its requests with the status 429 and the code PAUSED. Running responses go on to their end.
      </Text>
      <ScopeFields form={form} members={scopeMembers} />
      <TextInput
        label="Reason"
        description="The refused client sees it."
        placeholder="Runaway loop"
        maxLength={100}
        {...form.getInputProps('name')}
      />
      <NativeSelect label="For" data={durations} {...form.getInputProps('minutes')} />
      <Preview values={form.values} />
    </EditorForm>
  );
};

export default CreatePause;
