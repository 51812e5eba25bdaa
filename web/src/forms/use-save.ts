import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { changesOf } from './changes.ts';
import { type Collection, capital, collections } from './collections.ts';
import { fieldErrors } from './fields.ts';

/** A function that reloads a collection. Also used after errors: an item that was deleted elsewhere must show as deleted. */
export const useReload = (collection: Collection) => {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      [collection, `${collection}/{id}`].map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })),
    );
};

/**
 * Creates an item from a form, or sends what was changed in the form since it was opened; nothing where nothing was. What the form does
 * not show stays as it is, and so does what somebody else changed meanwhile.
 */
export const useSave = <Values extends object>({
  collection,
  id,
  form,
  bodyOf,
  whole,
  onSaved,
}: {
  readonly collection: Collection;
  /** Id of the item to change; undefined for a new one. */
  readonly id: string | undefined;
  readonly form: UseFormReturnType<Values>;
  readonly bodyOf: (values: Values) => object;
  /** Members that the API replaces: see changesOf. */
  readonly whole?: readonly string[];
  /** @param secret of the webhook, where it is new */
  readonly onSaved: (secret: string | undefined) => void;
}) => {
  const api = useApi();
  const reload = useReload(collection);
  const options = {
    onSuccess: async ({ webhookSecret }: { readonly webhookSecret?: string | undefined }) => {
      const { noun, ...texts } = collections[collection];
      const created = 'created' in texts ? texts.created : `${capital(noun)} created.`;
      notifyDone(id === undefined ? created : `${capital(noun)} saved.`);
      await reload();
      onSaved(webhookSecret);
    },
    onError: (error: unknown) => {
      form.setErrors(fieldErrors(error, ...Object.keys(form.values)));
      return reload();
    },
  };
  // The types of one collection stand for those of all: the bodies are checked where forms make them.
  const create = api.useMutation('post', collection as '/budgets', options);
  const update = api.useMutation('patch', `${collection}/{id}` as '/budgets/{id}', options);
  const save = (values: Values) => {
    const opened = id === undefined ? {} : bodyOf(form.getInitialValues());
    const body = changesOf(opened, bodyOf(values), whole) as never;
    if (id === undefined) create.mutate({ body });
    else if (Object.keys(body).length > 0) update.mutate({ params: { path: { id } }, body });
    else onSaved(undefined);
  };
  return { save, error: create.error ?? update.error, isPending: create.isPending || update.isPending };
};
