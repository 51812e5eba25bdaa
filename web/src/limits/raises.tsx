import { Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import { HandCoins } from 'lucide-react';
import type { Raise } from '../api/responses.ts';
import { notifyDone, useApi, useMe } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { ListPage } from '../components/page.tsx';
import { type Column, Table, TwoLines } from '../components/table.tsx';
import { formatLimit } from '../format/numbers.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { AmountFields, type AmountValues, untilOf } from './amount-fields.tsx';
import { boundaryText } from './names.ts';

interface RaiseProps {
  readonly raise: Raise;
}

const Approve = ({ raise, onClose }: RaiseProps & { readonly onClose: () => void }) => {
  const form = useForm<AmountValues>({ initialValues: { amount: raise.amount, holds: 'period_end' } });
  const decide = useApi().useMutation('patch', '/raises/{id}', {
    onSuccess: ({ granted }) => {
      notifyDone(`${raise.label ?? raise.value} has ${formatLimit(granted?.amount ?? 0)} now.`);
      onClose();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={decide}
      sent={(values) => ({
        params: { path: { id: raise.id } },
        body: { isApproved: true, amount: Number(values.amount), until: untilOf(values) },
      })}
      failure="It was not approved"
      submit="Approve"
    >
      <AmountFields form={form} />
    </SubmitForm>
  );
};

const Decision = ({ raise }: RaiseProps) => {
  const { me, may } = useMe();
  const deny = useApi().useMutation('patch', '/raises/{id}', { meta: { failure: 'It was not denied' } });
  const { id, status, granted, decidedBy, askedBy, amount, label, value } = raise;
  const isOwn = [askedBy.userId, value].includes(me?.user.userId ?? '');
  if (status !== 'pending' || !may('raises:decide') || isOwn)
    return (
      <>
        {status}
        {granted &&
          ` ${formatLimit(granted.amount)} ${granted.until ? `until ${boundaryText(granted.until)}` : 'for good'}`}
        {decidedBy && <span className="dim small"> by {decidedBy.name}</span>}
      </>
    );
  const named = (button: string) => ({
    label: button,
    'aria-label': `${button} ${formatLimit(amount)} for ${label ?? value}`,
  });
  const denial = { params: { path: { id } }, body: { isApproved: false } } as const;
  return (
    <Group gap="xs" justify="flex-end">
      <DialogButton size="compact-xs" {...named('Approve')} title={`More for ${label ?? value}`}>
        {(close) => <Approve raise={raise} onClose={close} />}
      </DialogButton>
      <ActButton variant="default" {...named('Deny')} act={deny} sent={denial} />
    </Group>
  );
};

const columns: readonly Column<Raise>[] = [
  {
    head: 'Asked by',
    cell: ({ askedBy, askedAt }) => <TwoLines second={<Instant iso={askedAt} />}>{askedBy.name}</TwoLines>,
  },
  {
    head: 'For',
    cell: ({ amount, budgetName, label, value, limitNanoUsd, usedNanoUsd }) => (
      <>
        <strong>{formatLimit(amount)}</strong> for {label ?? value}
        <br />
        <span className="dim small">
          {budgetName}: used <Money nano={usedNanoUsd} /> of <Money nano={limitNanoUsd} />
        </span>
      </>
    ),
  },
  { head: 'Reason', className: 'wraps', cell: ({ reason }) => reason },
  { head: 'Decision', className: 'right', cell: (raise) => <Decision raise={raise} /> },
];

export const Raises = () => {
  const query = useApi().useQuery('get', '/raises');
  return (
    <ListPage
      title="Raises"
      about="What members ask for beyond their limits. Somebody else decides within 7 days."
      query={query}
    >
      <Table
        label="Raises"
        columns={columns}
        query={query}
        empty={{ icon: HandCoins, title: 'Nobody asks for more', text: 'Members ask on their page My access.' }}
      />
    </ListPage>
  );
};
