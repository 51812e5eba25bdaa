import { Badge, Text } from '@mantine/core';
import { Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Key, Project } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Cost, Instant, LastUsed } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { LimitLink, ListPage, LoadProblem, TextLink } from '../components/page.tsx';
import { actions, type Column, Table, TwoLines } from '../components/table.tsx';
import { plural } from '../format/numbers.ts';
import { utcDate } from '../format/time.ts';
import { NameForm } from '../forms/submit-form.tsx';
import { PauseButton } from '../limits/pause-button.tsx';
import { useBudgets } from '../limits/use-limits.ts';
import { usedText } from '../limits/used.tsx';
import type { KeyNames } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useSpend } from '../spend/use-spend.ts';
import { CreateKey, EditKey, RevokeKey, RotateKey } from './key-dialogs.tsx';

const DAYS = 30;
const MAX_GROUPS = 1_000;

const useSpendBy = (by: 'key' | 'project') => {
  const days = { from: utcDate(new Date(Date.now() - (DAYS - 1) * DAY_MS)), to: utcDate(new Date()) };
  const query = { ...days, granularity: 'day' as const, groupBy: [by], limit: MAX_GROUPS };
  return { ...useSpend(query, { enabled: useMe().may('spend:read') }), days };
};

type SpendOfProps = {
  readonly by: 'key' | 'project';
  readonly of: Pick<Key, 'id' | 'name'>;
  readonly isOver?: boolean;
};

/** A link with the spend of a key or project in the last 30 days, and the budget that is only for it. @param isOver it spends no more */
const SpendOf = ({ by, of: { id, name }, isOver = false }: SpendOfProps) => {
  const { may } = useMe();
  const { data, days } = useSpendBy(by);
  const { data: budgets } = useBudgets();
  const budget = budgets?.items.find(({ filter }) => filter && filter[by] === id && Object.keys(filter).length === 1);
  if (!data) return null;
  // Without a group there was no spend, if all groups are there.
  const none = { costNanoUsd: data.otherGroups ? null : 0 };
  const spend = data.groups.find((each) => each[by] === id) ?? none;
  return (
    <>
      <TextLink to="/" search={{ [by]: [id], range: 'custom', ...days }}>
        <Cost of={spend} code={data.displayCurrency?.code} />
      </TextLink>
      {!budget && budgets && !isOver && may('rules:write') && (
        <div className="small under-link">
          <TextLink
            to="/limits/new"
            search={{ type: 'budget', [by]: id }}
            aria-label={`Set a limit for the ${by} ${name}`}
          >
            Set a limit
          </TextLink>
        </div>
      )}
      {budget && (
        <div className="dim small under-link">
          <LimitLink id={budget.id}>
            {budget.state.percentUsed !== null && `${usedText(budget)} of `}
            {budget.name}
          </LimitLink>
        </div>
      )}
    </>
  );
};

const DeleteProject = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const act = useApi().useMutation('delete', '/projects/{id}', { meta: { failure: 'The project was not deleted' } });
  const sent = { params: { path: { id } } };
  return <ActButton color="red" label="Delete" aria-label={`Delete ${name}`} act={act} sent={sent} />;
};

const Projects = () => {
  const { may } = useMe();
  const api = useApi();
  const query = api.useQuery('get', '/projects');
  const create = api.useMutation('post', '/projects', { meta: { failure: 'The project was not created' } });
  return (
    <>
      <LoadProblem query={query} title="The projects could not be loaded" />
      <LoadProblem query={useSpendBy('project')} title="The projects’ spend could not be loaded" />
      <Table
        label="Projects"
        columns={[
          { head: 'Project', cell: ({ name }) => name },
          { head: 'Keys', className: 'wide-only num', cell: ({ keys }) => plural(keys.length, 'key') },
          {
            head: 'Spend, 30 days',
            className: 'right named',
            cell: (project) => <SpendOf by="project" of={project} />,
          },
          actions(['rules:write', 'projects:write'], ({ id, name, isDefault, keys }: Project) =>
            keys.length > 0 ? (
              <PauseButton isSmall label={`Pause ${name}`} start={{ project: id, name: `Project ${name}` }} />
            ) : (
              may('projects:write') && !isDefault && <DeleteProject id={id} name={name} />
            ),
          ),
        ]}
        query={query}
        // As high as the default project and the form, so that nothing below moves.
        skeletons={[22, 30]}
        lastRow={
          query.data &&
          may('projects:write') && (
            <NameForm
              aria-label="Name of a new project"
              placeholder="New project"
              maxLength={64}
              // Reports show names alone.
              taken={query.data.items.map(({ name }) => name)}
              submit="Add"
              isPending={create.isPending}
              onSend={(name, clear) => create.mutate({ body: { name } }, { onSuccess: clear })}
            />
          )
        }
      />
    </>
  );
};

const dialogs = [
  { label: 'Edit', icon: Pencil, title: 'Edit this key', Dialog: EditKey },
  { label: 'Rotate', icon: RotateCw, title: 'Rotate this key', Dialog: RotateKey },
  { label: 'Revoke', icon: Trash2, title: 'Revoke this key?', Dialog: RevokeKey },
];

const Actions = ({ item }: { readonly item: Key }) => {
  const { me, may } = useMe();
  const { id, name, status, ownerUserId } = item;
  const mayChange = may('keys:write-all') || (may('keys:write') && ownerUserId === me?.user.userId);
  return (
    <>
      {status !== 'revoked' && <PauseButton isSmall label={`Pause ${name}`} start={{ key: id, name: `Key ${name}` }} />}
      {status !== 'revoked' &&
        mayChange &&
        dialogs.map(({ Dialog, label, ...button }) => (
          <DialogButton key={label} {...button} label={label} aria-label={`${label} ${name}`}>
            {(close) => <Dialog target={item} onClose={close} />}
          </DialogButton>
        ))}
    </>
  );
};

/** @param unnamed stands for a member without a name */
const columnsOf = (names: KeyNames, unnamed: string): readonly Column<Key>[] => [
  {
    head: 'Key',
    cell: ({ name, maskedKey, status, lastUsedAt }) => (
      <>
        <div>
          <Text span fz="sm" fw={560} {...(status === 'revoked' && { td: 'line-through', c: 'dimmed' })}>
            {name}
          </Text>{' '}
          {status !== 'active' && <Badge variant="default">{status}</Badge>}
        </div>
        <span className="mono dim small" style={{ whiteSpace: 'nowrap' }}>
          {maskedKey}
        </span>
        <div className="narrow-only dim small">
          <LastUsed at={lastUsedAt} />
        </div>
      </>
    ),
  },
  {
    head: 'Project, member',
    className: 'wide-only named',
    cell: ({ project, ownerUserId: id }) => (
      <TwoLines second={names.get(id ?? '') ?? (id ? unnamed : 'nobody')}>{names.get(project) ?? project}</TwoLines>
    ),
  },
  {
    head: 'Last used, created',
    className: 'wide-only num',
    cell: ({ createdAt, lastUsedAt }) => (
      <TwoLines second={<Instant day iso={createdAt} />}>
        <LastUsed at={lastUsedAt} />
      </TwoLines>
    ),
  },
  {
    head: 'Spend, 30 days',
    className: 'right named',
    cell: (key) => <SpendOf by="key" of={key} isOver={key.status === 'revoked'} />,
  },
  actions(['keys:write', 'rules:write'], (key) => <Actions item={key} />),
];

export const Keys = () => {
  const query = useApi().useQuery('get', '/keys');
  const { data } = query;
  const { may } = useMe();
  const members = useApi().useQuery('get', '/members', {}, { enabled: may('members:read') });
  const names = useKeyNames();
  const byUse = (data?.items ?? []).toSorted((a, b) => Number(a.status === 'revoked') - Number(b.status === 'revoked'));
  const atLimit = data !== undefined && data.active >= data.limit;
  return (
    <ListPage
      title="Keys"
      about="A service key attributes spend. Give each application or team its own."
      actions={
        <>
          {data && (
            <span className="dim small num">
              {data.active} of {plural(data.limit, 'key')} in use
              {atLimit && may('billing:read') && (
                <>
                  {': '}
                  <TextLink to="/billing">upgrade for more</TextLink>
                </>
              )}
            </span>
          )}
          <DialogButton
            needs="keys:write"
            leftSection={<Plus size={16} />}
            disabled={!data || atLimit}
            label="New key"
            title="New service key"
          >
            {(close) => <CreateKey onClose={close} />}
          </DialogButton>
        </>
      }
      query={query}
    >
      <LoadProblem query={useSpendBy('key')} title="The keys’ spend could not be loaded" />
      <Table
        label="Service keys"
        columns={columnsOf(names, members.data ? 'former member' : 'a member')}
        query={query}
        items={data && byUse}
        textOf={({ name, maskedKey, project, ownerUserId }) =>
          [name, maskedKey, names.get(project), names.get(ownerUserId ?? '')].join(' ')
        }
        skeletons={[43, 43]}
      />
      <Projects />
    </ListPage>
  );
};
