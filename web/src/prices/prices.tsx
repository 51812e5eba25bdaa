import { Alert, Badge, Button, Group, Modal, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, Tags } from 'lucide-react';
import type { DisplayCurrency, OwnPrice, OwnPrices } from '../api/responses.ts';
import { notifyDone, useApi, useMe } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { DialogButton } from '../components/buttons.tsx';
import { ListPage, Section, TextLink } from '../components/page.tsx';
import { actions, type Column, Table, TwoLines } from '../components/table.tsx';
import { formatRate, plural } from '../format/numbers.ts';
import { formatBucket, utcDate } from '../format/time.ts';
import { DeleteButton } from '../forms/editor.tsx';
import { RowsField } from '../forms/rows-field.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { PriceEditor } from './price-editor.tsx';
import { newPrice, valuesOf } from './price-form.ts';
import { kindTexts, periodText, priceScopeText, termsText } from './price-texts.ts';

const problems = {
  code: (code: string) => (/^[A-Z]{3}$/.test(code) ? null : 'Three capital letters, such as EUR.'),
  rates: {
    from: (from: string) => (from === '' ? 'A day.' : null),
    perUsd: (perUsd: string) =>
      /^\d{1,9}(\.\d{1,9})?$/.test(perUsd) && Number(perUsd) > 0 ? null : 'A number, such as 0.9234.',
  },
};

/** The currency that costs are shown in next to US dollars, with its rates. */
const CurrencySection = ({ currency }: { readonly currency: DisplayCurrency | null }) => {
  const { may } = useMe();
  const queryClient = useQueryClient();
  const form = useForm<DisplayCurrency>({
    initialValues: currency ?? { code: '', rates: [{ from: `${utcDate(new Date()).slice(0, 7)}-01`, perUsd: '' }] },
    validate: problems,
  });
  const set = useApi().useMutation('put', '/prices/currency', {
    onSuccess: ({ currency: saved }) => {
      notifyDone(saved ? `Costs are shown in ${saved.code}, too.` : 'Costs are shown in US dollars.');
      // All figures have it.
      return queryClient.invalidateQueries();
    },
  });
  if (!may('prices:write')) return null;
  return (
    <Section
      title="Display currency"
      about="Costs are recorded in US dollars, and shown in this currency, too: each day at the rate of that day."
    >
      <SubmitForm
        form={form}
        request={set}
        sent={({ code, rates }) => ({
          body: { currency: { code, rates: rates.toSorted((a, b) => (a.from < b.from ? -1 : 1)) } },
        })}
        failure="The currency was not saved"
        submit="Save"
        otherButtons={
          currency && (
            <Button variant="default" onClick={() => set.mutate({ body: { currency: null } })}>
              US dollars only
            </Button>
          )
        }
      >
        <TextInput label="Currency" placeholder="EUR" maxLength={3} {...form.getInputProps('code')} />
        <RowsField form={form} list="rates" row="rate" newRow={{ from: utcDate(new Date()), perUsd: '' }}>
          {(index) => (
            <>
              <TextInput type="date" label="From day (UTC)" flex={1} {...form.getInputProps(`rates.${index}.from`)} />
              <TextInput
                label="For 1 US dollar"
                placeholder="0.9234"
                inputMode="decimal"
                flex={1}
                {...form.getInputProps(`rates.${index}.perUsd`)}
              />
            </>
          )}
        </RowsField>
      </SubmitForm>
    </Section>
  );
};

const REFRESH_MS = 60_000;

/** Effect of a price in its newest month, where it depends on the sums of a month. */
const MonthState = ({ price: { months, terms } }: { readonly price: OwnPrice }) => {
  const [month] = months;
  if (!month) return null;
  const [sum, name] = [Number(month.sum), formatBucket(month.month)];
  const text = {
    commitment: month.isShared
      ? `${formatRate(sum / 1e9)} shared by the requests of ${name}`
      : `no request of ${name} shares it: it is in no cost`,
    credit: `paid ${formatRate(sum / 1e9)} in ${name}`,
    volume: `costs of ${name} × ${month.factor}`,
  }[terms.kind as 'commitment' | 'credit' | 'volume'];
  return (
    <span className={`small ${month.isShared ? 'dim' : 'unknown'}`}>
      {text}
      {!month.isFinal && ' (so far)'}
    </span>
  );
};

/** Months that are being priced again, or what the last time changed. */
const Repricing = ({ prices: { repricing, lastRepricing } }: { readonly prices: OwnPrices }) => {
  if (repricing && repricing.months.length > 0)
    return (
      <Alert color="blue">
        Requests of {repricing.months.map(formatBucket).join(', ')} (UTC) are being priced again:{' '}
        {plural(repricing.changed, 'request')} changed so far.
      </Alert>
    );
  if (!lastRepricing) return null;
  const { at, changed, differenceNanoUsd, failed } = lastRepricing;
  return (
    <p className="dim small">
      Priced again <Instant iso={at} />: {plural(changed, 'request')} changed
      {changed > 0 && ', by '}
      {changed > 0 && <Money as="change" nano={differenceNanoUsd} />}.
      {failed > 0 && <span className="unknown"> {plural(failed, 'request')} could not be priced again.</span>}
    </p>
  );
};

const PriceScope = ({ price }: { readonly price: OwnPrice }) => priceScopeText(price, useKeyNames());

const dialog = { needs: 'prices:write', isWide: true } as const;

const columns: readonly Column<OwnPrice>[] = [
  {
    head: 'Price',
    cell: (price) => (
      <>
        <TwoLines second={termsText(price.terms)}>
          {price.name} <Badge variant="default">{kindTexts[price.terms.kind]}</Badge>
        </TwoLines>
        <div className="small narrow-only">
          <PriceScope price={price} />
        </div>
      </>
    ),
  },
  { head: 'For', className: 'wide-only named', cell: (price) => <PriceScope price={price} /> },
  {
    head: 'Holds (UTC)',
    cell: (price) => <TwoLines second={<MonthState price={price} />}>{periodText(price)}</TwoLines>,
  },
  actions('prices:write', (price) => (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <DialogButton
        {...dialog}
        size="compact-xs"
        variant="subtle"
        label="Edit"
        aria-label={`Edit ${price.name}`}
        title={price.name}
      >
        {(close) => <PriceEditor price={price} initial={valuesOf(price)} onClose={close} />}
      </DialogButton>
      <DeleteButton collection="/prices" item={price} aria-label={`Delete ${price.name}`} />
    </Group>
  )),
];

export const Prices = () => {
  const { may } = useMe();
  const search = getRouteApi('/members/prices').useSearch();
  const navigate = getRouteApi('/members/prices').useNavigate();
  const query = useApi().useQuery(
    'get',
    '/prices',
    {},
    // The page follows while months are priced again.
    { refetchInterval: ({ state }) => (state.data?.repricing ? REFRESH_MS / 6 : REFRESH_MS) },
  );
  const { data } = query;
  // Pages that link here name a model that has no price.
  const close = () => void navigate({ search: {}, replace: true });
  const add = (
    <DialogButton {...dialog} leftSection={<Plus size={16} />} label="New price" title="New price">
      {(done) => <PriceEditor initial={newPrice()} onClose={done} />}
    </DialogButton>
  );
  return (
    <ListPage
      title="Prices"
      about={
        <>
          What you really pay: rates, discounts, commitments, credits. Everything else has its list price, which{' '}
          <TextLink to="/price-changes">changes by itself</TextLink>.
        </>
      }
      actions={add}
      query={query}
    >
      {data && <Repricing prices={data} />}
      <Table
        label="Prices"
        columns={columns}
        query={query}
        empty={{
          icon: Tags,
          title: 'No prices of your own',
          text: 'All requests are charged at list price. Add what your contract says, or the price of a model nobody lists.',
        }}
      />
      {data && <CurrencySection key={JSON.stringify(data.currency)} currency={data.currency} />}
      <Modal opened={search.model !== undefined && may('prices:write')} onClose={close} size="lg" title="New price">
        <PriceEditor initial={newPrice(search.model, search.provider)} onClose={close} />
      </Modal>
    </ListPage>
  );
};
