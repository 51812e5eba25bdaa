import { ActionIcon, Badge, Button, Modal, Skeleton, Tooltip } from '@mantine/core';
import { KeyRound, Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Key } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ListPage } from '../components/list-page.tsx';
import { plural } from '../format/quantity.ts';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import { useMe } from '../session/permissions.ts';
import { CreateKey } from './create-key.tsx';
import { EditKey } from './edit-key.tsx';
import classes from './keys.module.css';
import { Projects } from './projects.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';
import { PLACEHOLDER, useOwnKey } from './use-own-key.ts';

type KeyAction = 'edit' | 'rotate' | 'revoke';

const actions = [
  { action: 'edit', label: 'Edit', icon: Pencil },
  { action: 'rotate', label: 'Rotate', icon: RotateCw },
  { action: 'revoke', label: 'Revoke', icon: Trash2 },
] as const;

const KeyRow = ({
  item,
  projectName,
  mayChange,
  onAction,
}: {
  readonly item: Key;
  readonly projectName: string | undefined;
  readonly mayChange: boolean;
  readonly onAction: (action: KeyAction) => void;
}) => (
  <tr className={item.status === 'revoked' ? classes['revoked'] : undefined}>
    <td>
      <span className={classes['name']}>{item.name}</span>
      <span className={`mono dim ${classes['masked']}`}>{item.maskedKey}</span>
    </td>
    <td className="wide-only">{projectName}</td>
    <td className="wide-only">
      <Instant iso={item.createdAt} />
    </td>
    <td>{item.lastUsedAt ? <Instant iso={item.lastUsedAt} ago /> : <span className="dim">never</span>}</td>
    <td className="right">
      {item.status !== 'active' && (
        <Badge variant="default" color="gray" tt="none">
          {item.status}
        </Badge>
      )}
      {item.status !== 'revoked' &&
        mayChange &&
        actions.map(({ action, label, icon: Icon }) => (
          <Tooltip key={action} label={label}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`${label} ${item.name}`}
              onClick={() => onAction(action)}
            >
              <Icon size={16} />
            </ActionIcon>
          </Tooltip>
        ))}
    </td>
  </tr>
);

export const Keys = () => {
  const query = useApi().useQuery('get', '/keys');
  const { data, error } = query;
  const ownKey = useOwnKey();
  const [created, setCreated] = useState<string>();
  const [creating, setCreating] = useState(false);
  const [acting, setActing] = useState<{ readonly action: KeyAction; readonly key: Key }>();
  const { data: projects } = useApi().useQuery('get', '/projects');
  const { me, may } = useMe();
  const mayChange = ({ ownerUserId }: Key) =>
    may('keys:write-all') || (may('keys:write') && ownerUserId === me?.user.userId);
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
                  <AnchorLink to="/billing" underline="always" inherit>
                    upgrade for more
                  </AnchorLink>
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
      skeleton={null}
    >
      {(!error || data) && (
        <section className="card scroll-x" aria-label="Service keys">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Key</th>
                <th className="wide-only">Project</th>
                <th className="wide-only">Created</th>
                <th>Last used</th>
                <th className="right">
                  <span className={classes['hidden']}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data
                ? data.items.map((item) => (
                    <KeyRow
                      key={item.id}
                      item={item}
                      projectName={projects?.items.find(({ id }) => id === item.project)?.name}
                      mayChange={mayChange(item)}
                      onAction={(action) => setActing({ action, key: item })}
                    />
                  ))
                : [1, 2].map((row) => (
                    <tr key={row}>
                      <td colSpan={5}>
                        <Skeleton height={43} />
                      </td>
                    </tr>
                  ))}
            </tbody>
          </table>
        </section>
      )}
      <Projects />
      <section className="card card-pad" aria-labelledby="use">
        <div className="card-head">
          <h2 id="use">
            <KeyRound size={16} className={classes['icon']} aria-hidden /> Use it
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
      <Modal opened={acting?.action === 'revoke'} onClose={close} title="Revoke this key?">
        {acting && <RevokeKey target={acting.key} onClose={close} />}
      </Modal>
      <Modal opened={acting?.action === 'rotate'} onClose={close} title="Rotate this key">
        {acting && <RotateKey target={acting.key} onClose={close} />}
      </Modal>
      <Modal opened={acting?.action === 'edit'} onClose={close} title="Edit this key">
        {acting && <EditKey target={acting.key} onClose={close} />}
      </Modal>
    </ListPage>
  );
};
