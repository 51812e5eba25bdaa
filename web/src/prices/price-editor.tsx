import { Autocomplete, Button, Checkbox, Group, NativeSelect, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { fieldErrors } from '../account/fields.ts';
import type { OwnPrice } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { plural } from '../format/quantity.ts';
import { utcDate, utcDayText } from '../format/time.ts';
import { providerChoices } from '../providers/names.ts';
import { bodyOf, type PriceValues, patchOf, priceProblems, valuesOf } from './price-form.ts';
import { kindTexts } from './price-texts.ts';
import { type PriceForm, TermsFields } from './terms-fields.tsx';
import { useReloadPrices } from './use-prices.ts';

const kinds = Object.entries(kindTexts).map(([value, label]) => ({ value, label }));

/** Which requests a price is for. */
const ScopeFields = ({ form }: { readonly form: PriceForm }) => {
  const api = useApi();
  const { data: keys } = api.useQuery('get', '/keys');
  const { data: projects } = api.useQuery('get', '/projects');
  const choices = (items: readonly { readonly id: string; readonly name: string }[] = []) =>
    items.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Provider"
          placeholder="any"
          clearable
          searchable
          data={providerChoices}
          {...form.getInputProps('provider')}
          value={form.values.provider || null}
          onChange={(value) => form.setFieldValue('provider', value ?? '')}
        />
        <Autocomplete label="Model" placeholder="any, or gpt-4o*" maxLength={256} {...form.getInputProps('model')} />
      </Group>
      <Group grow align="flex-start">
        <Select
          label="Service key"
          placeholder="any"
          clearable
          searchable
          data={choices(keys?.items)}
          value={form.values.key || null}
          onChange={(value) => form.setFieldValue('key', value ?? '')}
        />
        <Select
          label="Project"
          placeholder="any"
          clearable
          searchable
          data={choices(projects?.items)}
          value={form.values.project || null}
          onChange={(value) => form.setFieldValue('project', value ?? '')}
        />
        <TextInput label="Service tier" placeholder="any" maxLength={256} {...form.getInputProps('serviceTier')} />
      </Group>
      <Checkbox
        label="Only requests with a subscription’s token"
        description="Claude Pro and Max, ChatGPT plans."
        {...form.getInputProps('bySubscription', { type: 'checkbox' })}
      />
    </>
  );
};

/** What a price that begins in the past changes. */
const PastRequests = ({ values }: { readonly values: PriceValues }) => {
  const { from, lastDay, provider, model, key, project } = values;
  const today = utcDate(new Date());
  const isPast = from !== '' && from < today && (lastDay === '' || lastDay >= from);
  const isCountable = isPast && !model.includes('*');
  const yearAgo = utcDate(new Date(Date.now() - 365 * 86_400_000));
  const { data } = useApi().useQuery(
    'get',
    '/spend',
    {
      params: {
        query: {
          from: from < yearAgo ? yearAgo : from,
          ...(lastDay !== '' && lastDay < today && { to: lastDay }),
          ...(provider && { provider: [provider as ProviderLabel] }),
          ...(model && { model: [model.trim().toLowerCase()] }),
          ...(key && { key: [key] }),
          ...(project && { project: [project] }),
        },
      },
    },
    { enabled: isCountable },
  );
  if (!isPast) return null;
  return (
    <p className="dim small">
      Requests since {utcDayText(from)} that it is for are priced again within minutes: counters, budgets and exports
      follow.
      {isCountable && data && data.totals.requests > 0 && (
        <>
          {' '}
          Up to {plural(data.totals.requests, 'request')} of that time, now <Money nano={data.totals.costNanoUsd} />
          {data.totals.unpricedRequests > 0 &&
            ` and ${plural(data.totals.unpricedRequests, 'request')} of unknown cost`}
          .
        </>
      )}
    </p>
  );
};

/** The form of a new price, or of the one that is given. */
export const PriceEditor = ({
  price,
  initial,
  onClose,
}: {
  readonly price?: OwnPrice | undefined;
  readonly initial: PriceValues;
  readonly onClose: () => void;
}) => {
  const api = useApi();
  const reload = useReloadPrices();
  const form = useForm<PriceValues>({
    initialValues: price ? valuesOf(price) : initial,
    validate: priceProblems,
  });
  const done = {
    onSuccess: () => {
      notifyDone(price ? 'Price saved.' : 'Price added.');
      onClose();
    },
    onError: (error: unknown) => form.setErrors(fieldErrors(error, 'name', 'model', 'from')),
    onSettled: () => reload(),
  };
  const create = api.useMutation('post', '/prices', done);
  const update = api.useMutation('patch', '/prices/{id}', done);
  const error = create.error ?? update.error;
  const save = (values: PriceValues) =>
    price
      ? update.mutate({ params: { path: { id: price.id } }, body: patchOf(values, price) })
      : create.mutate({ body: bodyOf(values) });
  return (
    <form noValidate onSubmit={form.onSubmit(save)}>
      <Stack>
        <TextInput label="Name" placeholder="Contract of 2026" maxLength={100} {...form.getInputProps('name')} />
        <NativeSelect label="Kind" data={kinds} {...form.getInputProps('kind')} />
        <TermsFields form={form} />
        <ScopeFields form={form} />
        <Group grow align="flex-start">
          <TextInput type="date" label="First day (UTC)" {...form.getInputProps('from')} />
          <TextInput
            type="date"
            label={form.values.kind === 'credit' ? 'Last day (UTC)' : 'Last day (UTC, optional)'}
            {...form.getInputProps('lastDay')}
          />
        </Group>
        <PastRequests values={form.values} />
        {error && <ProblemNote error={error} title="The price was not saved" />}
        <Group>
          <Button type="submit" loading={create.isPending || update.isPending}>
            {price ? 'Save' : 'Add the price'}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
