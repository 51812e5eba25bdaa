import { ActionIcon, Badge, Button, Modal, Skeleton, Text, Tooltip } from '@mantine/core';
import { KeyRound, Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Key } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
import { ListPage } from '../components/list-page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { CreateKey, EditKey, RevokeKey, RotateKey } from './key-dialogs.tsx';
import { Projects } from './projects.tsx';
import { PLACEHOLDER, useOwnKey } from './use-own-key.ts';

const dialogs = {
  edit: { label: 'Edit', icon: Pencil, title: 'Edit this key', Dialog: EditKey },
  rotate: { label: 'Rotate', icon: RotateCw, title: 'Rotate this key', Dialog: RotateKey },
  revoke: { label: 'Revoke', icon: Trash2, title: 'Revoke this key?', Dialog: RevokeKey },
} as const;

interface ActionsProps {
  readonly item: Key;
  readonly onChoose: (action: keyof typeof dialogs) => void;
}

const Actions = ({ item: { name, status, ownerUserId }, onChoose }: ActionsProps) => {
  const { me, may } = useMe();
  const mayChange = may('keys:write-all') || (may('keys:write') && ownerUserId === me?.user.userId);
  return (
    <>
      {status !== 'active' && (
        <Badge variant="default" color="gray" tt="none">
          {status}
        </Badge>
      )}
      {status !== 'revoked' &&
        mayChange &&
        Object.entries(dialogs).map(([action, { label, icon: Icon }]) => (
          <Tooltip key={action} label={label}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`${label} ${name}`}
              onClick={() => onChoose(action as keyof typeof dialogs)}
            >
              <Icon size={16} />
            </ActionIcon>
          </Tooltip>
        ))}
    </>
  );
};

const ProjectName = ({ id }: { readonly id: string }) => useKeyNames().get(id);

const columns: readonly Column<Key>[] = [
  {
    head: 'Key',
    cell: ({ name, maskedKey, status }) => (
      <>
        <Text fz="sm" fw={560} {...(status === 'revoked' && { td: 'line-through', c: 'dimmed' })}>
          {name}
        </Text>
        <span className="mono dim small">{maskedKey}</span>
      </>
    ),
  },
  { head: 'Project', className: 'wide-only', cell: ({ project }) => <ProjectName id={project} /> },
  { head: 'Created', className: 'wide-only', cell: ({ createdAt }) => <Instant iso={createdAt} /> },
  {
    head: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Instant iso={lastUsedAt} ago /> : <span className="dim">never</span>),
  },
];

export const Keys = () => {
  const query = useApi().useQuery('get', '/keys');
  const { data, error } = query;
  const ownKey = useOwnKey();
  const [created, setCreated] = useState<string>();
  const [creating, setCreating] = useState(false);
  const [acting, setActing] = useState<{ readonly action: keyof typeof dialogs; readonly key: Key }>();
  const { may } = useMe();
  const close = () => setActing(undefined);
  const atLimit = data !== undefined && data.active >= data.limit;
  const snippetKey = created ?? ownKey;
  return (
    <ListPage
      title="Keys"
      about="A service key attributes spend. Give each application or team its own."
      actions={
        <div className="page-actions">
          {data && (
            <span className="dim small num">
              {data.active} of {plural(data.limit, 'key')} in use
              {atLimit && (
                <>
                  {': '}
                  <TextLink to="/billing">upgrade for more</TextLink>
                </>
              )}
            </span>
          )}
          {may('keys:write') && (
            <Button leftSection={<Plus size={16} />} disabled={!data || atLimit} onClick={() => setCreating(true)}>
              New key
            </Button>
          )}
        </div>
      }
      query={query}
      things="keys"
    >
      <Table
        label="Service keys"
        columns={[
          ...columns,
          {
            head: 'Actions',
            className: 'right',
            cell: (key) => <Actions item={key} onChoose={(action) => setActing({ action, key })} />,
          },
        ]}
        items={data?.items}
        error={error}
        keyOf={({ id }) => id}
        skeletons={[43, 43]}
      />
      <Projects />
      <section className="card card-pad" aria-labelledby="use">
        <div className="card-head">
          <h2 id="use">
            <KeyRound size={16} aria-hidden /> Use it
          </h2>
        </div>
        <p className="dim small hint">
          {snippetKey === PLACEHOLDER
            ? `Replace ${PLACEHOLDER} with your key: keys are shown only when they are created.`
            : `With ${created ? 'the key you just created' : 'the account’s first key'}. The marked lines are new. Add the header X-Service-Tag to split spend by workload.`}
        </p>
        {snippetKey ? <SdkSnippet serviceKey={snippetKey} /> : <Skeleton height={240} />}
      </section>
      <Modal opened={creating} onClose={() => setCreating(false)} title="New service key">
        <CreateKey onClose={() => setCreating(false)} onCreated={setCreated} />
      </Modal>
      {Object.entries(dialogs).map(([action, { title, Dialog }]) => (
        <Modal key={action} opened={acting?.action === action} onClose={close} title={title}>
          {acting && <Dialog target={acting.key} onClose={close} />}
        </Modal>
      ))}
    </ListPage>
  );
};
