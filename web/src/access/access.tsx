import { Badge, Button, Group, Modal, NumberInput, Skeleton, Stack, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Workflow } from 'lucide-react';
import { useState } from 'react';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { OwnLimit } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { sessionColumns } from '../client-sessions/sessions.tsx';
import { Cost, Money, Unpriced } from '../components/amount.tsx';
import { DialogButton } from '../components/buttons.tsx';
import { Loaded, LoadProblem, Page, Section, TextLink } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { formatLimit, plural } from '../format/numbers.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CreateKey } from '../keys/key-dialogs.tsx';
import { dollars } from '../limits/limit-types.ts';
import { boundaryText } from '../limits/names.ts';
import { useBudgets } from '../limits/use-limits.ts';
import { Left, Used, UsedBar } from '../limits/used.tsx';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import { PLACEHOLDER } from '../providers/snippets.ts';
import { useSpend } from '../spend/use-spend.ts';

interface LimitProps {
  readonly limit: OwnLimit;
}

/** `Developers`, and of a limit for each key the key's name. */
const nameOf = ({ budgetName, each, label, value }: OwnLimit): string =>
  each === 'key' ? `${budgetName}: ${label ?? value}` : budgetName;

/** A value of a limit. Where it is not the user's alone, its amount is not known here. */
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
      <strong>{nameOf(limit)}</strong> {isBlocked && <Badge color="red">Requests refused</Badge>}
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
const OwnLimits = () => {
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

const SESSIONS = 5;

/** The page with the spend of the user's own keys this month, and the rest of each limit that is theirs. */
const MySpend = ({ userId }: { readonly userId: string }) => {
  const query = useSpend({ member: [userId] });
  const budgets = useBudgets();
  const own = budgets.data?.items.filter(({ isActive, filter }) => isActive && filter?.member === userId) ?? [];
  return (
    <Section title="Spend" about="What your keys cost this month (UTC), and what is left of your limits.">
      <Loaded query={query} title="Your spend could not be loaded" height={24}>
        {({ totals, displayCurrency }) => (
          <p>
            <Cost of={totals} code={displayCurrency?.code} /> <span className="dim">this month</span>
            <span className="dim"> · {plural(totals.requests, 'request')}</span>{' '}
            <Unpriced of={totals.unpricedRequests} />
          </p>
        )}
      </Loaded>
      <Stack mt="sm">
        <OwnLimits />
        <LoadProblem query={budgets} title="The budgets could not be loaded" />
        {own.map((budget) => (
          <div key={budget.id}>
            <strong>{budget.name}</strong>
            <Used budget={budget} />
          </div>
        ))}
      </Stack>
    </Section>
  );
};

/** The user's keys, and how a tool is pointed at the gateway with one. */
const MyKeys = ({ userId }: { readonly userId: string }) => {
  const query = useApi().useQuery('get', '/keys');
  const [created, setCreated] = useState<string>();
  const own = query.data?.items.filter(({ ownerUserId, status }) => ownerUserId === userId && status === 'active');
  return (
    <Section
      title="Key and tools"
      about={
        created
          ? 'With the key you just made.'
          : `Replace ${PLACEHOLDER} with your key: a key is shown only when it is made.`
      }
    >
      <LoadProblem query={query} title="Your keys could not be loaded" />
      <Group mb="md" justify="space-between">
        <span style={{ minWidth: 0 }}>
          {own?.length === 0 && 'You have no key yet.'}
          {own && own.length > 0 && (
            <>
              {own.map(({ name }) => name).join(', ')} · <TextLink to="/keys">your keys</TextLink>
            </>
          )}
        </span>
        <DialogButton
          needs="keys:write"
          size="xs"
          leftSection={<Plus size={16} />}
          label="New key"
          title="New service key"
        >
          {(close) => <CreateKey onClose={close} onCreated={setCreated} />}
        </DialogButton>
      </Group>
      <SdkSnippet serviceKey={created ?? PLACEHOLDER} initial="claude" />
    </Section>
  );
};

const MySessions = () => {
  const query = useApi().useQuery('get', '/sessions', { params: { query: { orderBy: 'cost', limit: SESSIONS } } });
  return (
    <>
      <LoadProblem query={query} title="The sessions could not be loaded" />
      <Table
        label="Costliest sessions"
        caption={<h2 className="section-title">The costliest sessions of the last 30 days</h2>}
        columns={sessionColumns}
        query={query}
        empty={{
          icon: Workflow,
          title: 'No sessions yet',
          text: 'Claude Code, Codex and opencode send session ids by themselves.',
        }}
      />
    </>
  );
};

/** Where a developer lands: a key and how to use it, what it cost, and what is left. */
export const Access = () => {
  const { me, query, may } = useMe();
  return (
    <Page title="My access" about="Your key, your tools, and what they cost.">
      {query.isPending && <Skeleton height={320} radius="lg" />}
      {me && <MySpend userId={me.user.userId} />}
      {me && <MyKeys userId={me.user.userId} />}
      {may('requests:read') && <MySessions />}
    </Page>
  );
};
