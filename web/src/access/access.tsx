import { Group, Skeleton, Stack } from '@mantine/core';
import { Plus, Workflow } from 'lucide-react';
import { useState } from 'react';
import { useApi, useMe } from '../app.ts';
import { sessionColumns } from '../client-sessions/sessions.tsx';
import { Money, Unpriced } from '../components/amount.tsx';
import { DialogButton } from '../components/buttons.tsx';
import { TextLink } from '../components/links.tsx';
import { Loaded, LoadProblem, PageHead, Section } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { shownIn } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { CreateKey } from '../keys/key-dialogs.tsx';
import { useBudgets } from '../limits/use-limits.ts';
import { Used } from '../limits/used.tsx';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import { PLACEHOLDER } from '../providers/snippets.ts';
import { useSpend } from '../spend/use-spend.ts';
import { OwnLimits } from './own-limits.tsx';

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
            <Money nano={totals.costNanoUsd} shown={shownIn(totals, displayCurrency?.code)} />{' '}
            <span className="dim">this month</span>
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
    <div className="page">
      <PageHead title="My access" about="Your key, your tools, and what they cost." />
      {query.isPending && <Skeleton height={320} radius="lg" />}
      {me && <MySpend userId={me.user.userId} />}
      {me && <MyKeys userId={me.user.userId} />}
      {may('requests:read') && <MySessions />}
    </div>
  );
};
