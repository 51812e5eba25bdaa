import { Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { PiggyBank } from 'lucide-react';
import type { ReactNode } from 'react';
import { certaintyNames, findingNames } from '../../../lambda/domain/savings/finding-kinds.ts';
import type { Decided, Finding } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { Card, LimitLink, ListPage, TextLink } from '../components/page.tsx';
import { actions, type Column, Table, TwoLines } from '../components/table.tsx';
import { plural, shownIn } from '../format/numbers.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { providerName } from '../providers/names.ts';
import { useKeyNames } from '../spend/use-key-names.ts';

interface FindingProps {
  readonly of: Finding;
}

interface WhereProps {
  readonly of: Pick<Finding, 'kind' | 'scope'>;
}

/** The requests that a finding is about: `OpenAI · gpt-4o · tag search`. */
const useWhere = ({ scope }: WhereProps['of']): string => {
  const names = useKeyNames();
  return [
    scope.provider && providerName(scope.provider),
    scope.model,
    scope.key && (names.get(scope.key) ?? scope.key),
    scope.tag === null ? 'without a tag' : scope.tag && `tag ${scope.tag}`,
  ]
    .filter(Boolean)
    .join(' · ');
};

/** The name of a finding's button or link: `Watch: A dearer model next to the usual one, tag search`. */
const useNamed = (finding: WhereProps['of']) => {
  const what = [findingNames[finding.kind], useWhere(finding)].filter(Boolean).join(', ');
  return (label: string) => ({ label, 'aria-label': `${label}: ${what}` });
};

const Dismiss = ({ of: { kind, scope }, onClose }: FindingProps & { readonly onClose: () => void }) => {
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: required('A reason') } });
  const dismiss = useApi().useMutation('put', '/savings/decisions', { onSuccess: onClose });
  return (
    <SubmitForm
      form={form}
      request={dismiss}
      sent={({ reason }) => ({ body: { kind, scope, decision: 'dismissed' as const, reason } })}
      failure="The finding was not dismissed"
      submit="Dismiss"
    >
      <TextInput
        label="Reason"
        description="Members who see the whole account see it, and it is in the audit log."
        maxLength={500}
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </SubmitForm>
  );
};

/** Dismisses a finding with a reason, or watches what its requests cost from now on. */
const Decide = ({ of: finding }: FindingProps) => {
  const { kind, scope } = finding;
  const named = useNamed(finding);
  const watch = useApi().useMutation('put', '/savings/decisions', {
    meta: { done: 'The finding is watched.', failure: 'The finding is not watched' },
  });
  return (
    <Group gap={0} ml={-8}>
      <ActButton
        needs="reports:write"
        {...named('Watch')}
        act={watch}
        sent={{ body: { kind, scope, decision: 'watched' } }}
      />
      <DialogButton
        needs="reports:write"
        size="compact-xs"
        variant="subtle"
        color="gray"
        {...named('Dismiss')}
        title="Dismiss the finding"
      >
        {(close) => <Dismiss of={finding} onClose={close} />}
      </DialogButton>
    </Group>
  );
};

/** Takes a decision back: the finding is listed again. */
const Undo = ({ of }: { readonly of: Decided }) => {
  const named = useNamed(of);
  const undo = useApi().useMutation('delete', '/savings/decisions/{id}', { meta: { failure: 'Nothing was undone' } });
  return <ActButton needs="reports:write" {...named('Undo')} act={undo} sent={{ params: { path: { id: of.id } } }} />;
};

/** The filter of pages that show the requests behind a finding. */
const filterOf = ({ provider, model, tag, key }: Finding['scope']) => ({
  ...(provider && { provider: provider as never }),
  ...(model && !model.includes('*') && { model }),
  ...(tag && { tag }),
  ...(key && { key }),
});
const listsOf = (scope: Finding['scope']) =>
  Object.fromEntries(Object.entries(filterOf(scope)).map(([name, value]) => [name, [value]]));

/** Says what was found and where; on a phone the rest of the row is below it. */
const What = ({ of, children }: WhereProps & { readonly children: ReactNode }) => (
  <>
    {findingNames[of.kind]}
    <Text size="sm" className="dim" style={{ overflowWrap: 'anywhere' }}>
      {useWhere(of)}
    </Text>
    <Stack gap={4} mt={4} className="narrow-only">
      {children}
    </Stack>
  </>
);

const Links = ({ of }: FindingProps) => {
  const { scope, requestIds } = of;
  const { may } = useMe();
  const named = useNamed(of);
  const nameOf = (label: string) => named(label)['aria-label'];
  const filter = filterOf(scope);
  const [costliest] = requestIds;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      {costliest && isFiltered && (
        <TextLink to="/requests" search={{ ...filter, orderBy: 'cost' }} aria-label={nameOf('All its requests')}>
          All its requests
        </TextLink>
      )}
      {costliest && !isFiltered && (
        <TextLink to="/requests/$requestId" params={{ requestId: costliest }} aria-label={nameOf('Costliest request')}>
          Costliest request
        </TextLink>
      )}
      {scope.key && <TextLink to="/keys">Keys</TextLink>}
      {scope.price && <TextLink to="/prices">Prices</TextLink>}
      {scope.limit ? (
        <LimitLink id={scope.limit}>The limit</LimitLink>
      ) : (
        costliest &&
        may('rules:write') && (
          <TextLink to="/limits/new" search={filter} aria-label={nameOf('Set a limit')}>
            Set a limit
          </TextLink>
        )
      )}
    </>
  );
};

const HowKnown = ({ of: { arithmetic, certainty } }: FindingProps) => (
  <div>
    {certaintyNames[certainty]}. <span className="dim small">{arithmetic}</span>
  </div>
);

const Actions = ({ of }: FindingProps) => (
  <Group gap="2px 10px">
    <Links of={of} />
    <Decide of={of} />
  </Group>
);

const monthly =
  (code: string | null) =>
  ({ nanoUsdPerMonth, displayPerMonth: displayCost }: Finding | Decided) =>
    nanoUsdPerMonth === null ? (
      <span className="dim">not found</span>
    ) : (
      <Money nano={nanoUsdPerMonth} shown={shownIn({ displayCost }, code)} />
    );

const columnsOf = (code: string | null): readonly Column<Finding>[] => [
  {
    head: 'What',
    cell: (finding) => (
      <What of={finding}>
        <HowKnown of={finding} />
        <Actions of={finding} />
      </What>
    ),
  },
  { head: 'In 30 days', className: 'right', cell: monthly(code) },
  { head: 'How it is known', className: 'wide-only', cell: (finding) => <HowKnown of={finding} /> },
  { head: 'What to do', className: 'wide-only', cell: (finding) => <Actions of={finding} /> },
];

/** Says what the requests of a watched finding cost since, and why that changed. */
const Since = ({ of, of: { decision, reason, scope, since } }: { readonly of: Decided }) => {
  const named = useNamed(of);
  if (decision === 'dismissed') return <>“{reason}”</>;
  if (since === null) return <span className="dim">Watched by the amount alone: it is not about single requests.</span>;
  const { costNanoUsd, costBeforeNanoUsd, effects, from, to } = since;
  const change = costNanoUsd === null || costBeforeNanoUsd === null ? null : costNanoUsd - costBeforeNanoUsd;
  return (
    <>
      <Money as="change" nano={change} />, from <Money nano={costBeforeNanoUsd} /> to <Money nano={costNanoUsd} />
      <br />
      <span className="dim small">
        {effects && (
          <>
            Volume <Money as="change" nano={effects.volumeNanoUsd} />, mix{' '}
            <Money as="change" nano={effects.mixNanoUsd} />, price <Money as="change" nano={effects.priceNanoUsd} />.{' '}
          </>
        )}
        <TextLink
          to="/compare"
          aria-label={named('Compare')['aria-label']}
          search={{
            ...listsOf(scope),
            from,
            to,
            compareFrom: new Date(2 * Date.parse(from) - Date.parse(to)).toISOString(),
          }}
        >
          Compare
        </TextLink>
      </span>
    </>
  );
};

const When = ({ of: { decision, at, by } }: { readonly of: Decided }) => (
  <div>
    <TwoLines second={by}>
      {decision === 'watched' ? 'Watched' : 'Dismissed'} since <Instant iso={at} day />
    </TwoLines>
  </div>
);

const decidedColumns = (code: string | null): readonly Column<Decided>[] => [
  {
    head: 'What',
    cell: (decided) => (
      <What of={decided}>
        <When of={decided} />
        <div>
          <Since of={decided} />
        </div>
      </What>
    ),
  },
  { head: 'In 30 days, now', className: 'right', cell: monthly(code) },
  { head: 'Decided', className: 'wide-only named', cell: (decided) => <When of={decided} /> },
  { head: 'Reason, or what changed since', className: 'wide-only wraps', cell: (decided) => <Since of={decided} /> },
  actions('reports:write', (decided) => <Undo of={decided} />),
];

const tiers = ['batch', 'flex', 'priority', 'standard'] as const;

const ReadInPart = ({ of }: { readonly of: { readonly isComplete: boolean; readonly from: string } }) =>
  !of.isComplete && (
    <p className="dim small">
      Not all requests could be read, since they are too many or of another version: these are the newest, from{' '}
      <Instant iso={of.from} /> on.
    </p>
  );

/** Prices requests of the last 30 days again, with another model or tier. */
const WhatIf = () => {
  const request = useApi().useMutation('post', '/spend/what-if');
  const { data } = request;
  const form = useForm({
    initialValues: { tag: '', model: '', tier: null as (typeof tiers)[number] | null },
    // Figures of other values would look like those of these.
    onValuesChange: () => request.reset(),
  });
  return (
    <Card
      title="What if"
      about="The same requests of the last 30 days, priced again with another model of their provider, or another service tier."
    >
      <SubmitForm
        form={form}
        request={request}
        sent={({ tag, model, tier }) => ({
          body: { filter: tag ? { tag } : {}, change: { ...(model && { model }), ...(tier && { tier }) } },
        })}
        failure="The requests could not be priced again"
        submit="Price again"
        disabled={!form.values.model && !form.values.tier}
        otherButtons={null}
      >
        <Group mt={10}>
          <TextInput label="Tag" placeholder="all" {...form.getInputProps('tag')} />
          <TextInput label="Model" {...form.getInputProps('model')} />
          <Select label="Service tier" placeholder="as it was" clearable data={tiers} {...form.getInputProps('tier')} />
        </Group>
      </SubmitForm>
      {data && (
        <>
          <ReadInPart of={data} />
          <p>
            {plural(data.requests, 'request')}: <Money nano={data.oldNanoUsd} /> before,{' '}
            <Money nano={data.newNanoUsd} /> after, <Money as="change" nano={data.differenceNanoUsd} />.
          </p>
          <p className="dim small">
            The tokens are the same. With its own tokens for the same text, the model costs{' '}
            <Money nano={data.sameText.leastNanoUsd} /> to <Money nano={data.sameText.mostNanoUsd} />.
            {data.incomparable.map(({ reason, requests }) => (
              <span key={reason}>
                {' '}
                {plural(requests, 'request')} left out: {reason}
              </span>
            ))}
          </p>
        </>
      )}
    </Card>
  );
};

export const Savings = () => {
  const query = useApi().useQuery('get', '/savings');
  const { data } = query;
  return (
    <ListPage
      skeleton
      title="Savings"
      about="Where money is wasted, as arithmetic over the requests of the last 30 days. Less than $1 a month is not listed."
      query={query}
      empty={
        data?.items.length === 0 && {
          icon: PiggyBank,
          title: data.decided.length > 0 ? 'Nothing else found' : 'Nothing found',
          text:
            data.requests > 0
              ? 'No cache is written in vain, no prompt repeats without one, and nothing that was paid for is unused.'
              : 'There was no request to examine.',
        }
      }
    >
      {data && <ReadInPart of={data} />}
      {data && data.items.length > 0 && (
        <Table label="Findings" columns={columnsOf(data.displayCurrency)} items={data.items} />
      )}
      {data && data.decided.length > 0 && (
        <Table
          label="Watched and dismissed"
          caption={<h2 className="section-title">Watched and dismissed</h2>}
          columns={decidedColumns(data.displayCurrency)}
          items={data.decided}
        />
      )}
      {data && <WhatIf />}
    </ListPage>
  );
};
