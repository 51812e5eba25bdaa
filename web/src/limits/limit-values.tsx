import { Badge, Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { Budget, LimitValue } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { Money, Unpriced } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { DownloadButton } from '../components/download.tsx';
import { actions, type Column, ListSection } from '../components/table.tsx';
import { plural } from '../format/numbers.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { saveCsv } from '../spend/export-spend.ts';
import { AmountFields, type AmountValues, untilOf } from './amount-fields.tsx';
import { boundaryText, eachText } from './names.ts';
import { UsedBar } from './used.tsx';

const TYPING_MS = 300;
const FIRST = 20;
/** One page of the API. All of them are in the CSV. */
const MOST = 500;

const sourceTexts: Readonly<Record<LimitValue['limitSource'], string>> = {
  override: 'its own amount',
  project: 'by its project',
  role: 'by its role',
  budget: '',
  none: 'requests without a value have no limit',
};

const nameOf = ({ value, label }: LimitValue): string => label ?? value;

const FAILURE = 'The amount was not changed';

interface ChangeAmountProps {
  readonly budget: Budget;
  readonly value: LimitValue;
  readonly onClose: () => void;
}

const ChangeAmount = ({ budget, value, onClose }: ChangeAmountProps) => {
  const { limitNanoUsd, limitSource } = value;
  const form = useForm<AmountValues>({
    initialValues: { amount: limitNanoUsd === null ? '' : limitNanoUsd / 1e9, holds: 'period_end' },
  });
  const params = { path: { id: budget.id, value: value.value } };
  const api = useApi();
  const set = api.useMutation('put', '/budgets/{id}/values/{value}', {
    onSuccess: onClose,
    meta: { done: `${nameOf(value)} has another amount.` },
  });
  const reset = api.useMutation('delete', '/budgets/{id}/values/{value}', {
    onSuccess: onClose,
    meta: { done: `${nameOf(value)} has the usual amount.`, failure: FAILURE },
  });
  return (
    <SubmitForm
      form={form}
      request={set}
      sent={(values) => ({
        params,
        body: { amount: values.amount === '' ? null : Number(values.amount), until: untilOf(values) },
      })}
      failure={FAILURE}
      submit="Save"
      otherButtons={
        limitSource === 'override' && (
          <ActButton size="sm" variant="default" label="Usual amount" act={reset} sent={{ params }} />
        )
      }
    >
      <AmountFields form={form} description="Empty: no limit. 0: every request that costs is refused." />
    </SubmitForm>
  );
};

const Figures = ({ value }: { readonly value: LimitValue }) => {
  const { limitNanoUsd, limitSource, usedNanoUsd, reservedNanoUsd, overrideUntil, unpricedRequests } = value;
  const source = sourceTexts[limitSource];
  return (
    <>
      <Money nano={knownCost(usedNanoUsd, unpricedRequests)} /> <Unpriced of={unpricedRequests} />
      <span className="dim small">
        {reservedNanoUsd > 0 && ' + '}
        {reservedNanoUsd > 0 && <Money nano={reservedNanoUsd} />}
        {reservedNanoUsd > 0 && ' reserved'}
        <br />
        {limitNanoUsd === null ? 'no limit' : 'of '}
        {limitNanoUsd !== null && <Money nano={limitNanoUsd} />}
        {source && `, ${source}`}
        {overrideUntil && ` until ${boundaryText(overrideUntil)}`}
      </span>
    </>
  );
};

const columnsOf = (budget: Budget): readonly Column<LimitValue>[] => [
  {
    head: 'Value',
    cell: (value) => (
      <>
        {nameOf(value)} {value.isBlocked && <Badge color="red">refused</Badge>}
        <UsedBar name={nameOf(value)} percent={value.percentUsed} />
      </>
    ),
  },
  { head: 'Used', className: 'right num', cell: (value) => <Figures value={value} /> },
  actions('raises:decide', (value) => (
    <DialogButton
      needs="raises:decide"
      size="compact-xs"
      variant="default"
      label="Change"
      aria-label={`Change the amount of ${nameOf(value)}`}
      title={`Amount of ${nameOf(value)}`}
    >
      {(close) => <ChangeAmount budget={budget} value={value} onClose={close} />}
    </DialogButton>
  )),
];

export const ValuesOfLimit = ({ budget }: { readonly budget: Budget }) => {
  const each = eachText(budget.each);
  const [text, setText] = useState('');
  const [limit, setLimit] = useState(FIRST);
  const [search] = useDebouncedValue(text.trim(), TYPING_MS);
  const { client } = useApp().api;
  const query = useApi().useQuery(
    'get',
    '/budgets/{id}/values',
    { params: { path: { id: budget.id }, query: { limit, ...(search && { search }) } } },
    { placeholderData: keepPreviousData },
  );
  const { data } = query;
  const download = async () => {
    const { data: file, error } = await client.GET('/budgets/{id}/values/export.csv', {
      params: { path: { id: budget.id }, query: search ? { search } : {} },
      parseAs: 'blob',
    });
    if (error) throw error;
    saveCsv(`limit-${each}.csv`, file as unknown as Blob);
  };
  return (
    <ListSection
      title={`Each ${each}`}
      action={<DownloadButton label="Download CSV" download={download} failure="The values were not downloaded" />}
      query={query}
      columns={columnsOf(budget)}
      keyOf={({ value }) => value}
      below={
        data?.nextCursor &&
        limit < MOST && (
          <Button m="sm" size="xs" variant="default" onClick={() => setLimit(MOST)}>
            Show more
          </Button>
        )
      }
    >
      {data && (
        <Text size="sm">
          {plural(data.values, 'value')}, together <Money nano={data.usedNanoUsd} />
          {data.blockedValues > 0 && `; requests of ${data.blockedValues} are refused`}.
          {!data.isCounted && ' Requests from before the limit are still being counted.'}
        </Text>
      )}
      <TextInput
        mt="xs"
        size="xs"
        aria-label={`Search each ${each}`}
        placeholder="Search"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </ListSection>
  );
};
