import { Button, Group, Modal, Skeleton, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { useApi } from '../app.ts';
import { Confirm, type Question } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { BackLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { PageHead } from '../components/page-head.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Unsaved } from '../components/unsaved.tsx';
import { useMe } from '../session/permissions.ts';
import { type Collection, capital, collections } from './collections.ts';
import classes from './editor.module.css';
import { otherErrors } from './fields.ts';
import { SetByApi } from './set-by-api.tsx';
import { useReload, useSave } from './use-save.ts';

interface Item {
  readonly id: string;
  readonly name: string;
}

export type Query = UseQueryResult<unknown, unknown>;

const isNotFound = ({ error }: Query): boolean => problemOf(error).code === 'NOT_FOUND';

/** Asks, and deletes the item. @param onDone after it, before the lists reload: the page of an item that is gone says so. */
const DeleteButton = ({
  collection,
  item: { id, name },
  onDone,
}: {
  readonly collection: Collection;
  readonly item: Item;
  readonly onDone: () => void;
}) => {
  const { noun, afterDeletion } = collections[collection];
  const reload = useReload(collection);
  const [asking, setAsking] = useState<Question>();
  const remove = useApi().useMutation('delete', `${collection}/{id}` as '/budgets/{id}', {
    onSuccess: () => {
      notifyDone(`${name} deleted.`);
      onDone();
    },
    onError: notifyProblem(`The ${noun} was not deleted`),
    onSettled: () => reload(),
  });
  const ask = () =>
    setAsking({
      title: `Delete this ${noun}?`,
      text: afterDeletion,
      action: `Delete the ${noun}`,
      onConfirm: () => remove.mutate({ params: { path: { id } } }),
    });
  return (
    <>
      <Button variant="subtle" color="red" leftSection={<Trash2 size={15} />} loading={remove.isPending} onClick={ask}>
        Delete
      </Button>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </>
  );
};

/**
 * The form of a new item, or of the one that is given: its fields, what only the API can set, errors on no field, and the buttons.
 * On a page it leads to the list when it is done, shows a new webhook secret once, and asks before changes are left.
 *
 * @param actions more buttons
 * @param onClose given in a dialog, which has no page to leave
 */
export const EditorForm = <Values extends object>({
  collection,
  item,
  form,
  bodyOf,
  whole,
  actions,
  onClose,
  children,
}: {
  readonly collection: Collection;
  readonly item: Item | undefined;
  readonly form: UseFormReturnType<Values>;
  readonly bodyOf: (values: Values) => object;
  /** Members that the API replaces: see changesOf. */
  readonly whole?: readonly string[];
  readonly actions?: ReactNode;
  readonly onClose?: () => void;
  readonly children: ReactNode;
}) => {
  const { noun, list, create, needs } = collections[collection];
  const navigate = useNavigate();
  const { may } = useMe();
  const [secret, setSecret] = useState<string>();
  const isDone = useRef(false);
  const leave = () => {
    isDone.current = true;
    if (onClose) onClose();
    else void navigate({ to: list });
  };
  const { save, error, isPending } = useSave({
    collection,
    id: item?.id,
    form,
    bodyOf,
    ...(whole && { whole }),
    onSaved: (given) => {
      isDone.current = true;
      if (given) setSecret(given);
      else leave();
    },
  });
  return (
    <form noValidate className={onClose ? undefined : 'card card-pad'} onSubmit={form.onSubmit(save)}>
      <Stack gap={onClose ? 'md' : 'lg'}>
        {children}
        {item && <SetByApi item={item} shown={bodyOf(form.getInitialValues())} />}
        {error && (
          <ProblemNote
            error={error}
            details={otherErrors(error, ...Object.keys(form.values))}
            title={`The ${noun} was not saved`}
          />
        )}
        {may(needs) ? (
          <Group justify="space-between">
            <Group>
              <Button type="submit" loading={isPending}>
                {item ? 'Save' : create}
              </Button>
              <Button variant="default" onClick={leave}>
                Cancel
              </Button>
            </Group>
            {item && !onClose && (
              <Group>
                {actions}
                <DeleteButton collection={collection} item={item} onDone={leave} />
              </Group>
            )}
          </Group>
        ) : (
          <p className="dim small">{`Your role reads ${noun}s. Members and admins change them.`}</p>
        )}
      </Stack>
      {!onClose && <Unsaved isDirty={() => form.isDirty() && !isDone.current} />}
      <Modal opened={secret !== undefined} onClose={leave} title="The webhook’s secret">
        {secret && (
          <ShownOnce secret={secret} what="secret" onClose={leave}>
            Webhooks are signed with this secret, so that you can verify them. It is shown only once.
          </ShownOnce>
        )}
      </Modal>
    </form>
  );
};

/** The page of an editor: the way back, a title, the form, and what is next to it. */
export const EditorPage = ({
  collection,
  title,
  about,
  query,
  side,
  children,
}: {
  readonly collection: Collection;
  readonly title: string;
  readonly about?: string | undefined;
  /** Query of the item that is edited. */
  readonly query?: Query | undefined;
  readonly side?: ReactNode;
  readonly children: ReactNode;
}) => {
  const { noun, page, list } = collections[collection];
  return (
    <div className="page">
      <PageHead title={title} about={about} back={<BackLink to={list}>{`All ${page}s`}</BackLink>} />
      {query && !isNotFound(query) && <LoadProblem query={query} title={`The ${noun} could not be loaded`} />}
      {side ? (
        <div className={classes['editor']}>
          {children}
          <div className={classes['side']}>{side}</div>
        </div>
      ) : (
        children
      )}
    </div>
  );
};

/** The page of an item that is loading, could not be loaded, or is in no list; and of an item, what `children` makes of it. */
export const LoadedItem = <Loaded extends Item>({
  collection,
  query,
  item,
  children,
}: {
  readonly collection: Collection;
  readonly query: Query;
  readonly item: Loaded | undefined;
  readonly children: (item: Loaded) => ReactNode;
}) => {
  const noun = collections[collection].page;
  const { data, error } = query;
  const isMissing = isNotFound(query) || (data !== undefined && !item);
  if (item && !isMissing) return children(item);
  return (
    <EditorPage collection={collection} title={capital(noun)} query={query}>
      {isMissing && (
        <EmptyState icon={Trash2} title={`${capital(noun)} not found`}>
          It may have been deleted.
        </EmptyState>
      )}
      {!data && !error && <Skeleton height={420} radius="lg" />}
    </EditorPage>
  );
};
