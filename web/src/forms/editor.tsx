import { Alert, Box, Button, type ButtonProps, Group, Skeleton, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { UseQueryResult } from '@tanstack/react-query';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { detailsOf, problemOf } from '../api/problem.ts';
import { notifyDone, useApi, useMe } from '../app.ts';
import { ActButton, Cancel, Confirm, Dialog } from '../components/buttons.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { BackLink, EmptyState, LoadProblem, Page, ProblemNote } from '../components/page.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { changesOf, hiddenIn, replacedBy } from './changes.ts';
import { type Collection, capital, collections, listOf } from './collections.ts';
import { fieldErrors, otherErrors } from './fields.ts';
import { useDraft } from './use-draft.ts';

/** The part of a form that a group of fields needs. Methods, so that the form of more values is one. */
export interface FormPart<Values> {
  readonly values: Values;
  readonly errors: Readonly<Record<string, ReactNode>>;
  setFieldValue(name: keyof Values & string, value: Values[keyof Values]): void;
  clearFieldError(name: string): void;
  getInputProps(name: keyof Values & string, options?: { readonly type: 'checkbox' }): object;
}

/** Asks before a form with changes is left; the browser asks before the tab is closed. */
const Unsaved = ({ isDirty, onDiscard }: { readonly isDirty: () => boolean; readonly onDiscard: () => void }) => {
  const { status, proceed, reset } = useBlocker({
    // A session that ended leads to its page without a question.
    shouldBlockFn: ({ next }) => next.pathname !== '/sign-in' && isDirty(),
    // A draft stays in the tab, but not when that is closed.
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Confirm
      opened={status === 'blocked'}
      title="Leave without saving?"
      text="Your changes are not saved."
      action="Discard the changes"
      onConfirm={() => {
        onDiscard();
        proceed?.();
      }}
      onClose={() => reset?.()}
    />
  );
};

interface Item {
  readonly id: string;
  readonly name: string;
}

export type Query = UseQueryResult<unknown, unknown>;

const isNotFound = ({ error }: Query): boolean => problemOf(error).code === 'NOT_FOUND';

interface DeleteButtonProps extends ButtonProps {
  readonly collection: Collection;
  readonly item: Item;
  readonly 'aria-label'?: string;
  /** Runs before the lists reload: the page of an item that is gone says so. */
  readonly onDone?: () => void;
}

export const DeleteButton = ({ collection, item: { id, name }, onDone, ...button }: DeleteButtonProps) => {
  const { noun, afterDeletion, needs } = collections[collection];
  const remove = useApi().useMutation('delete', `${collection}/{id}` as '/budgets/{id}', {
    ...(onDone && { onSuccess: onDone }),
    meta: { done: `${name} deleted.`, failure: `The ${noun} was not deleted` },
  });
  const ask = { title: `Delete this ${noun}?`, text: afterDeletion, action: `Delete the ${noun}` };
  return (
    <ActButton {...button} label="Delete" act={remove} sent={{ params: { path: { id } } }} ask={ask} needs={needs} />
  );
};

/** Members of an item that only the API can set, read-only: they stay as they are. */
const SetByApi = ({ item, shown }: { readonly item: object; readonly shown: object }) => {
  const hidden = hiddenIn(item, shown, useKeyNames());
  if (hidden.length === 0) return null;
  return (
    <div>
      <p className="small">The API set these, and they stay as they are:</p>
      <ul className="dim small">
        {hidden.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
};

interface EditorFormProps<Values> {
  readonly collection: Collection;
  /** The item to change; undefined for a new one. */
  readonly item: Item | undefined;
  readonly form: UseFormReturnType<Values>;
  readonly bodyOf: (values: Values) => object;
  /** Members that the API replaces: see changesOf. */
  readonly whole?: readonly string[];
  readonly actions?: ReactNode;
  /** Given in a dialog, which has no page to leave. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

/**
 * The form of a new item, or of the one that is given: its fields, what only the API can set, errors on no field, and the buttons.
 * It sends what was changed since it was opened, and nothing where nothing was: what it does not show stays as it is, and so does what
 * somebody else changed meanwhile. Where that is the same member, the API refuses the change with the other's value, and the next one
 * replaces it. On a page it leads to the list when it is done, shows a new webhook secret once, and asks before
 * changes are left.
 */
export const EditorForm = <Values extends object>(props: EditorFormProps<Values>) => {
  const { collection, item, form, bodyOf, onClose } = props;
  const { noun, create, needs, ...texts } = collections[collection];
  const created = 'created' in texts ? texts.created : `${capital(noun)} created.`;
  const navigate = useNavigate();
  const { me, may } = useMe();
  const api = useApi();
  const draft = useDraft(form, `${collection} ${item?.id ?? JSON.stringify(form.getInitialValues())}`, item);
  const leave = () => {
    draft.forget();
    if (onClose) onClose();
    else void navigate({ to: listOf(collection), ignoreBlocker: true });
  };
  const options = {
    onSuccess: () => notifyDone(item ? `${capital(noun)} saved.` : created),
    onError: (error: unknown) => form.setErrors(fieldErrors(error, form.values)),
  };
  // The types of one collection stand for those of all: the bodies are checked where forms make them.
  const add = api.useMutation('post', collection as '/budgets', options);
  const update = api.useMutation('patch', `${collection}/{id}` as '/budgets/{id}', options);
  const error = add.error ?? update.error;
  const { code, details } = problemOf(update.error);
  // Where another change came at the same instant, the refusal does not say what it set: nobody has seen that yet.
  const isOvertaken = code === 'CONFLICT' && details.length > 0;
  const secret = (add.data ?? update.data)?.webhookSecret;
  const onSuccess = ({ webhookSecret }: { readonly webhookSecret?: string | undefined }) => {
    draft.forget();
    if (!webhookSecret) leave();
  };
  const save = (values: Values) => {
    const opened = item ? bodyOf(form.getInitialValues()) : {};
    const body = changesOf(opened, bodyOf(values), props.whole) as object;
    if (!item) add.mutate({ body: body as never }, { onSuccess });
    else if (Object.keys(body).length > 0) {
      // A refusal showed what somebody else set: the item as it is now was read.
      const read = isOvertaken ? item : (draft.opened ?? item);
      const sent = { ...body, was: replacedBy(body, read, props.whole) };
      update.mutate({ params: { path: { id: item.id } }, body: sent }, { onSuccess });
    } else leave();
  };
  return (
    <form noValidate className={onClose ? undefined : 'card card-pad'} onSubmit={form.onSubmit(save)}>
      <Stack gap={onClose ? 'md' : 'lg'}>
        {draft.isRestored && (
          <Alert role="status" color="teal">
            What you typed before is here again.{' '}
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => {
                draft.forget();
                form.reset();
              }}
            >
              Discard it
            </Button>
          </Alert>
        )}
        {props.children}
        {item && <SetByApi item={item} shown={bodyOf(form.getInitialValues())} />}
        {error && (
          <ProblemNote
            error={error}
            // What somebody else set stands at its field, too, which may be out of view.
            details={isOvertaken ? detailsOf(error) : otherErrors(error, form.values)}
            title={`The ${noun} was not saved`}
          />
        )}
        {may(needs) ? (
          <Group justify="space-between">
            <Group>
              <Button type="submit" loading={add.isPending || update.isPending}>
                {item ? 'Save' : create}
              </Button>
              <Cancel onClick={leave} />
            </Group>
            {item && !onClose && (
              <Group>
                {props.actions}
                <DeleteButton
                  collection={collection}
                  item={item}
                  size="sm"
                  leftSection={<Trash2 size={15} />}
                  onDone={leave}
                />
              </Group>
            )}
          </Group>
        ) : (
          me && (
            <p className="dim small">{`Your role does not change ${noun}s. ${/^(rules|reports):/.test(needs) ? 'Members and admins' : 'Admins'}${needs === 'reports:write' ? ' who see the whole account' : ''} do.`}</p>
          )
        )}
      </Stack>
      {!onClose && <Unsaved isDirty={() => form.isDirty() && secret === undefined} onDiscard={draft.forget} />}
      <Dialog opened={secret !== undefined} onClose={leave} title="The webhook’s secret">
        {secret && (
          <ShownOnce secret={secret} what="secret" onClose={leave}>
            Webhooks are signed with a secret, so that you can verify them.
          </ShownOnce>
        )}
      </Dialog>
    </form>
  );
};

interface EditorPageProps {
  readonly collection: Collection;
  readonly title: string;
  readonly about?: string | undefined;
  readonly query?: Query | undefined;
  /** What the item does now, above its form. */
  readonly now?: ReactNode;
  readonly side?: ReactNode;
  readonly children: ReactNode;
}

/** The page of an editor: a link back, a title, the form, and what stands next to it. */
export const EditorPage = ({ collection, title, about, query, now, side, children }: EditorPageProps) => {
  const { page } = collections[collection];
  return (
    <Page title={title} about={about} back={<BackLink to={listOf(collection)}>{`All ${page}s`}</BackLink>}>
      {query && !isNotFound(query) && <LoadProblem query={query} title={`The ${page} could not be loaded`} />}
      {now}
      {side ? (
        <Box className="columns halves" __vars={{ '--columns': 'minmax(0, 1fr) minmax(0, 1.15fr)' }}>
          {children}
          <Box pos="sticky" top={20}>
            {side}
          </Box>
        </Box>
      ) : (
        children
      )}
    </Page>
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
        <EmptyState
          icon={Trash2}
          title={`${capital(noun)} not found`}
          text="It was deleted, or you do not see its part of the account."
        />
      )}
      {!data && !error && <Skeleton height={420} radius="lg" />}
    </EditorPage>
  );
};
