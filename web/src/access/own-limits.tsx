import { Badge, Button, Group, Modal, NumberInput, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { OwnLimit } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money, Unpriced } from '../components/amount.tsx';
import { Loaded } from '../components/page.tsx';
import { formatLimit } from '../format/money.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { dollars } from '../limits/limit-types.ts';
import { boundaryText } from '../limits/names.ts';
import { Left, UsedBar } from '../limits/used.tsx';

interface LimitProps {
  readonly limit: OwnLimit;
}

/** `Developers`, and of a limit for each key the key's name. */
const nameOf = ({ budgetName, each, label, value }: OwnLimit): string =>
  each === 'key' ? `${budgetName}: ${label ?? value}` : budgetName;

/** A value of a limit. The amount of one that is not the user's alone is not known here. */
type Asked = Pick<OwnLimit, 'budgetId' | 'value'> & Partial<OwnLimit>;

const AskForMore = ({ limit, onClose }: { readonly limit: Asked; readonly onClose: () => void }) => {
  const present = (limit.limitNanoUsd ?? 0) / 1e9;
  const form = useForm({
    initialValues: { amount: '' as number | string, reason: '' },
    validate: {
      amount: (amount) => (Number(amount) > present ? null : `More than ${formatLimit(present)}, your limit now.`),
      reason: required('A reason'),
    },
  });
  const ask = useApi().useMutation('post', '/budgets/{id}/values/{value}/raises', {
    onSuccess: onClose,
    meta: { done: 'Asked. You get a mail when somebody has decided.' },
  });
  return (
    <SubmitForm
      form={form}
      request={ask}
      sent={({ amount, reason }) => ({
        params: { path: { id: limit.budgetId, value: limit.value } },
        body: { amount: Number(amount), reason },
      })}
      failure="Nobody was asked"
      submit="Ask for it"
    >
      <NumberInput
        label="Amount"
        description={present > 0 && `Instead of ${formatLimit(present)}.`}
        data-autofocus
        {...dollars}
        {...form.getInputProps('amount')}
      />
      <Textarea label="Reason" maxLength={500} autosize minRows={2} {...form.getInputProps('reason')} />
    </SubmitForm>
  );
};

const RaiseState = ({ limit, onAsk }: LimitProps & { readonly onAsk: () => void }) => {
  const { raise } = limit;
  if (raise?.status === 'pending') return <span className="dim">asked for {formatLimit(raise.amount)}</span>;
  return (
    <Group gap="xs">
      {raise?.status === 'denied' && (
        <span className="dim">{`${formatLimit(raise.amount)} denied by ${raise.decidedBy?.name}`}</span>
      )}
      <Button size="compact-xs" variant="default" aria-label={`Ask for more: ${nameOf(limit)}`} onClick={onAsk}>
        Ask for more
      </Button>
    </Group>
  );
};

const Row = ({ limit, onAsk }: LimitProps & { readonly onAsk: () => void }) => {
  const { limitNanoUsd, usedNanoUsd, remainingNanoUsd, percentUsed, isBlocked, period, unpricedRequests } = limit;
  return (
    <div>
      <strong>{nameOf(limit)}</strong>
      {isBlocked && (
        <Badge color="red" ml={8}>
          Requests refused
        </Badge>
      )}
      <UsedBar name={nameOf(limit)} percent={percentUsed} />
      <Group gap="2px 16px" mt={7} className="small">
        <span>
          <Money nano={knownCost(usedNanoUsd, unpricedRequests)} /> used {limitNanoUsd !== null && 'of '}
          {limitNanoUsd !== null && <Money nano={limitNanoUsd} />}
        </span>
        {remainingNanoUsd === null || limitNanoUsd === null ? (
          <span className="dim">no limit</span>
        ) : (
          <>
            <Left nano={remainingNanoUsd} />
            <span className="dim">until {boundaryText(period.end)}</span>
            <RaiseState limit={limit} onAsk={onAsk} />
          </>
        )}
        <Unpriced of={unpricedRequests} />
        {!limit.isCounted && <span className="unknown">Requests from before the limit are still being counted.</span>}
      </Group>
    </div>
  );
};

/** The limits of the user and of each of their keys. The link of a refused request names a limit and a value, and opens the form. */
export const OwnLimits = () => {
  const { ask, value } = useSearch({ from: '/members/access' });
  const query = useApi().useQuery('get', '/own-limits');
  const navigate = useNavigate();
  const [asking, setAsking] = useState<OwnLimit>();
  const items = query.data?.items ?? [];
  const own = items.find((item) => item.budgetId === ask && (value === undefined || item.value === value));
  const isAskable = own && own.limitNanoUsd !== null && own.raise?.status !== 'pending';
  const others = query.data && !own && ask && value ? { budgetId: ask, value } : undefined;
  const shown: Asked | undefined = asking ?? (isAskable ? own : others);
  const close = () => {
    setAsking(undefined);
    if (ask !== undefined) void navigate({ to: '/access', replace: true });
  };
  return (
    <>
      <Loaded query={query} title="Your limits could not be loaded" height={24}>
        {() => items.length === 0 && <p className="dim small">No limit is set for each member or key.</p>}
      </Loaded>
      {items.map((limit) => (
        <Row key={`${limit.budgetId} ${limit.value}`} limit={limit} onAsk={() => setAsking(limit)} />
      ))}
      <Modal
        opened={shown !== undefined}
        onClose={close}
        title={shown && `Ask for more: ${shown === others ? value : nameOf(shown as OwnLimit)}`}
      >
        {shown && <AskForMore limit={shown} onClose={close} />}
      </Modal>
    </>
  );
};
