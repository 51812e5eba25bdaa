import '@mantine/core/styles/Menu.css';
import { Button, Menu, Modal, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter, useSearch } from '@tanstack/react-router';
import { Bookmark, Check, Pencil, Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import { isViewParameter, type ViewPage, viewPages } from '../../../lambda/domain/accounts/saved-view.ts';
import { problemOf } from '../api/problem.ts';
import type { View } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import { actions, Table } from '../components/table.tsx';
import { NameForm, SubmitForm } from '../forms/submit-form.tsx';
import { pageNames, useViews } from './use-views.ts';

const ManageViews = ({ views }: { readonly views: readonly View[] }) => {
  const api = useApi();
  const rename = api.useMutation('patch', '/views/{id}', { meta: { failure: 'The view was not renamed' } });
  const remove = api.useMutation('delete', '/views/{id}', { meta: { failure: 'The view was not deleted' } });
  const idOf = ({ id }: View) => ({ params: { path: { id } } });
  return (
    <Table
      label="Saved views"
      frame=""
      columns={[
        {
          head: 'Name',
          cell: (view) => (
            <NameForm
              key={view.name}
              aria-label={`Name of ${view.name}`}
              maxLength={60}
              initial={view.name}
              submit="Rename"
              isPending={rename.isPending && rename.variables.params.path.id === view.id}
              onSend={(name) => rename.mutate({ ...idOf(view), body: { name, was: { name: view.name } } })}
            />
          ),
        },
        { head: 'Page', className: 'wide-only', cell: ({ page }) => pageNames[page] },
        actions('rules:write', (view: View) => (
          <ActButton
            label="Delete"
            aria-label={`Delete ${view.name}`}
            act={remove}
            sent={idOf(view)}
            ask={{
              title: `Delete ${view.name}?`,
              text: 'No member will see this view any more.',
              action: 'Delete',
            }}
          />
        )),
      ]}
      items={views}
    />
  );
};

interface SaveViewProps {
  readonly page: ViewPage;
  readonly search: string;
  readonly views: readonly View[];
  readonly onClose: () => void;
}

/** Saves what the page shows under a new or an existing name. */
const SaveView = ({ page, search, views, onClose }: SaveViewProps) => {
  const api = useApi();
  const form = useForm({ initialValues: { name: '' } });
  const name = form.values.name.trim();
  const same = views.find((view) => view.page === page && view.name === name);
  const create = api.useMutation('post', '/views', { onSuccess: onClose, meta: { done: 'View saved.' } });
  const replace = api.useMutation('patch', '/views/{id}', { onSuccess: onClose, meta: { done: 'View replaced.' } });
  const save = () =>
    same
      ? replace.mutate({ params: { path: { id: same.id } }, body: { search, was: { search: same.search } } })
      : create.mutate({ body: { name, page, search } });
  return (
    <SubmitForm
      form={form}
      request={{ mutate: save, error: create.error ?? replace.error, isPending: create.isPending || replace.isPending }}
      sent={() => undefined}
      failure="The view was not saved"
      submit={same ? 'Replace the view' : 'Save'}
      disabled={name === ''}
    >
      <TextInput
        label="Name"
        description={`All members see it. It opens ${pageNames[page]} with the filters, groups and range that it has now; a range such as “7 days” moves with the time.`}
        maxLength={60}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {same && (
        <p className="dim small" role="status">
          The page has a view with this name. It gets the present settings.
        </p>
      )}
    </SubmitForm>
  );
};

/** The settings that the page has now, without other parameters that may be in the URL. */
const useShownSearch = (page: ViewPage) => {
  const { stringifySearch, parseSearch } = useRouter().options;
  const search = Object.entries(useSearch({ strict: false })).filter(([name]) => isViewParameter(page, name));
  const shown = stringifySearch(Object.fromEntries(search));
  const normal = (search: string) => stringifySearch(parseSearch(search)).split(/[?&]/).sort().join('&');
  return { search: shown.replace(/^\?/, ''), isShown: (search: string) => normal(search) === normal(shown) };
};

/** Opens, saves, renames and deletes views. It is open when it is loaded. */
const ViewsMenu = ({ page }: { readonly page: ViewPage }) => {
  const target = useRef<HTMLButtonElement>(null);
  const [dialog, setDialog] = useState<'save' | 'manage'>();
  const { may } = useMe();
  const { views, error, open } = useViews();
  const { search, isShown } = useShownSearch(page);
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu
        defaultOpened
        position="bottom-end"
        // Axe: a menu must not have an element in it that is no item and can have the focus.
        withInitialFocusPlaceholder={false}
        width={260}
        styles={{ dropdown: { maxHeight: 'min(420px, 70vh)', overflowY: 'auto' } }}
        // The button was another one when it was clicked.
        returnFocus={false}
        onClose={() => target.current?.focus()}
      >
        <Menu.Target>
          <Button ref={target} size="xs" variant="default" leftSection={<Bookmark size={14} />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {error && <Menu.Label>{problemOf(error).message}</Menu.Label>}
          {views?.length === 0 && <Menu.Label>No views are saved yet.</Menu.Label>}
          {[page, ...viewPages.filter((other) => other !== page)].map((each) => {
            const ofPage = views?.filter((view) => view.page === each) ?? [];
            return (
              ofPage.length > 0 && [
                <Menu.Label key={each}>{pageNames[each]}</Menu.Label>,
                ...ofPage.map((view) => (
                  <Menu.Item
                    key={view.id}
                    rightSection={each === page && isShown(view.search) && <Check size={14} aria-label="shown" />}
                    onClick={() => open(view)}
                  >
                    {view.name}
                  </Menu.Item>
                )),
              ]
            );
          })}
          {may('rules:write') && views && (
            <>
              <Menu.Divider />
              <Menu.Item leftSection={<Plus size={14} />} onClick={() => setDialog('save')}>
                Save this view…
              </Menu.Item>
              {views.length > 0 && (
                <Menu.Item leftSection={<Pencil size={14} />} onClick={() => setDialog('manage')}>
                  Rename or delete…
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog === 'save'} onClose={close} title="Save this view">
        <SaveView page={page} search={search} views={views ?? []} onClose={close} />
      </Modal>
      <Modal opened={dialog === 'manage'} onClose={close} title="Saved views" size="lg">
        <ManageViews views={views ?? []} />
      </Modal>
    </>
  );
};

export default ViewsMenu;
