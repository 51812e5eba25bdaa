import '@mantine/spotlight/styles.css';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import {
  Bookmark,
  Box,
  FolderKanban,
  History,
  KeyRound,
  type LucideIcon,
  OctagonPause,
  Plus,
  Search,
  SlidersHorizontal,
  UserRound,
} from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type Permission, useApi, useMe } from '../app.ts';
import { useFocusBack } from '../components/keyboard.ts';
import { capital } from '../forms/collections.ts';
import { PauseDialog } from '../limits/pause-button.tsx';
import { useSeen } from '../spend/use-spend.ts';
import { pageNames, useViews } from '../views/use-views.ts';
import { pageGroups } from './navigation.ts';

/** The account's things in a list, where the user may see them. */
const useNamed = (path: '/keys' | '/projects' | '/alert-rules' | '/budgets', needs: Permission) => {
  const { may } = useMe();
  const { data } = useApi().useQuery('get', path, {}, { enabled: may(needs) });
  return (data?.items ?? []) as readonly Thing[];
};

/** Pages that the menu has no entry for: others lead to them. */
const furtherPages = [
  {
    to: '/price-changes',
    label: 'Price changes',
    description: 'What new list prices did to recorded costs',
    needs: 'spend:read-all',
    icon: History,
  },
  {
    to: '/profile',
    label: 'Profile',
    description: 'Your name, e-mail, password and second factor',
    needs: 'self:write',
    icon: UserRound,
  },
] as const;

interface Thing {
  readonly id: string;
  readonly name: string;
}

/** The id of a request, as responses and logs have it. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const usePaletteGroups = (query: string, onPause: () => void): SpotlightActionGroupData[] => {
  const navigate = useNavigate();
  const { may } = useMe();
  const { views = [], open } = useViews();
  const entry = (group: string, Icon: LucideIcon, { id, name }: Thing, description: string, go: () => unknown) => ({
    group,
    actions: [
      {
        id: `${group} ${id}`,
        label: name,
        description,
        leftSection: <Icon size={17} aria-hidden />,
        onClick: () => void go(),
      },
    ],
  });
  const act = (name: string, icon: LucideIcon, what: string, go: () => unknown) =>
    entry('Do', icon, { id: name, name }, what, go);
  const limit = (noun: string) => (thing: Thing) =>
    entry('Limits', SlidersHorizontal, thing, noun, () =>
      navigate({ to: '/limits/$limitId', params: { limitId: thing.id } }),
    );
  const spendOf = (by: 'key' | 'project' | 'model', icon: LucideIcon) => (thing: Thing) =>
    entry(`Spend of a ${by}`, icon, thing, capital(by), () => navigate({ to: '/', search: { [by]: [thing.id] } }));
  const requestId = query.trim();
  const menuPages = pageGroups.flatMap(({ name, pages }) =>
    pages.map((page) => ({ ...page, description: page.label === name ? '' : name })),
  );
  return [
    ...[...menuPages, ...furtherPages]
      .filter(({ needs }) => may(needs))
      .map(({ to, label, description, icon }) =>
        entry('Pages', icon, { id: to, name: label }, description, () => navigate({ to })),
      ),
    ...(may('rules:write')
      ? [
          act('Pause requests', OctagonPause, 'Refuse them for a time', onPause),
          act('New limit', Plus, 'Warn, or refuse requests', () => navigate({ to: '/limits/new' })),
        ]
      : []),
    ...(may('reports:write')
      ? [act('New report', Plus, 'Spend by mail or chat', () => navigate({ to: '/reports/new' }))]
      : []),
    ...(REQUEST_ID.test(requestId)
      ? [
          entry('Requests', Search, { id: requestId, name: requestId }, 'Request', () =>
            navigate({ to: '/requests/$requestId', params: { requestId } }),
          ),
        ]
      : []),
    ...views.map((view) => entry('Views', Bookmark, view, `View of ${pageNames[view.page]}`, () => open(view))),
    ...useNamed('/keys', 'keys:read').map(spendOf('key', KeyRound)),
    ...useNamed('/projects', 'keys:read').map(spendOf('project', FolderKanban)),
    ...useSeen('model').map((name) => spendOf('model', Box)({ id: name, name })),
    ...useNamed('/alert-rules', 'rules:read').map(limit('Rule')),
    ...useNamed('/budgets', 'rules:read').map(limit('Budget')),
  ];
};

/** Goes to a page, view, key, project, rule or budget by its name. It is open when it is loaded. */
const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const [query, setQuery] = useState('');
  const [isPausing, setIsPausing] = useState(false);
  const isPausingNow = useRef(false);
  const groups = usePaletteGroups(query, () => {
    isPausingNow.current = true;
    setIsPausing(true);
  });
  useFocusBack();
  useEffect(() => spotlight.open(), []);
  if (isPausing) return <PauseDialog start={{}} onClose={onClose} />;
  return (
    <Spotlight
      query={query}
      onQueryChange={setQuery}
      actions={groups}
      nothingFound="Nothing has this name."
      shortcut={null}
      limit={12}
      highlightQuery
      scrollable
      onSpotlightClose={() => !isPausingNow.current && onClose()}
      attributes={{ content: { 'aria-label': 'Command palette' } }}
      // On the selected action it is too pale.
      styles={{ actionDescription: { opacity: 1 } }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Go to, or do …',
        'aria-label': 'Go to a page, view, key, project, model, request or limit, or act',
        // Names that came after the typing are not selected.
        onKeyDown: ({ key }) => {
          if (key === 'Enter' && !document.querySelector('[data-action][data-selected]'))
            document.querySelector<HTMLElement>('[data-action]')?.click();
        },
      }}
    />
  );
};

export default Palette;
