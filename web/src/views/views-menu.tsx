import '@mantine/core/styles/Menu.css';
import { Button, Menu, Modal } from '@mantine/core';
import { useRouter, useSearch } from '@tanstack/react-router';
import { Bookmark, Check, Pencil, Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import { isViewParameter, type ViewPage, viewPages } from '../../../lambda/domain/accounts/saved-view.ts';
import { problemOf } from '../api/problem.ts';
import type { View } from '../api/responses.ts';
import { useMe } from '../app.ts';
import { ManageViews } from './manage-views.tsx';
import { SaveView } from './save-view.tsx';
import { pageNames, useViews } from './use-views.ts';

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
  const others = viewPages.filter((other) => other !== page);
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
          {[page, ...others].map((each) => {
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
        <SaveView page={page} search={search} views={views ?? NONE} onClose={close} />
      </Modal>
      <Modal opened={dialog === 'manage'} onClose={close} title="Saved views" size="lg">
        <ManageViews views={views ?? NONE} />
      </Modal>
    </>
  );
};

const NONE: readonly View[] = [];

export default ViewsMenu;
