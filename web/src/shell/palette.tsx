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
  const rules = useNamed('/alert-rules', 'rules:read');
  const budgets = useNamed('/budgets', 'rules:read');
  const limits = [
    ...rules.map((rule) => ({ ...rule, noun: 'Rule' })),
    ...budgets.map((budget) => ({ ...budget, noun: 'Budget' })),
  ];
  const menuPages = pageGroups.flatMap(({ name, pages }) => pages.map((page) => ({ ...page, description: name })));
  const pages = [...menuPages, ...furtherPages].filter(({ needs }) => may(needs));
  const models = useSeen('model').map((name) => ({ id: name, name }));
  const acts = [
    { id: 'limit', name: 'New limit', what: 'Warn, or refuse requests', to: '/limits/new', needs: 'rules:write' },
    { id: 'report', name: 'New report', what: 'Spend by mail or chat', to: '/reports/new', needs: 'reports:write' },
  ] as const;
  const requestId = query.trim();
  const group = <T extends Thing>(
    name: string,
    things: readonly T[],
    what: string | ((thing: T) => string),
    Icon: LucideIcon,
    onChoose: (thing: T) => unknown,
  ): SpotlightActionGroupData => ({
    group: name,
    actions: things.map((thing) => ({
      id: `${name} ${thing.id}`,
      label: thing.name,
      description: typeof what === 'string' ? what : what(thing),
      leftSection: <Icon size={17} aria-hidden />,
      onClick: () => void onChoose(thing),
    })),
  });
  return [
    ...pages.map(({ to, label, description, icon }) =>
      group('Pages', [{ id: to, name: label }], description, icon, () => navigate({ to })),
    ),
    ...(may('rules:write')
      ? [
          group('Do', [{ id: 'pause', name: 'Pause requests' }], 'Refuse them for a time', OctagonPause, onPause),
          group(
            'Do',
            acts.filter(({ needs }) => may(needs)),
            ({ what }) => what,
            Plus,
            ({ to }) => navigate({ to }),
          ),
        ]
      : []),
    ...(REQUEST_ID.test(requestId)
      ? [
          group('Requests', [{ id: requestId, name: requestId }], 'Request', Search, ({ id }) =>
            navigate({ to: '/requests/$requestId', params: { requestId: id } }),
          ),
        ]
      : []),
    group('Views', views, ({ page }) => `View of ${pageNames[page]}`, Bookmark, open),
    group('Spend of a key', useNamed('/keys', 'keys:read'), 'Key', KeyRound, ({ id }) =>
      navigate({ to: '/', search: { key: id } }),
    ),
    group('Spend of a project', useNamed('/projects', 'keys:read'), 'Project', FolderKanban, ({ id }) =>
      navigate({ to: '/', search: { project: id } }),
    ),
    group('Spend of a model', models, 'Model', Box, ({ id }) => navigate({ to: '/', search: { model: [id] } })),
    group(
      'Limits',
      limits,
      ({ noun }) => noun,
      SlidersHorizontal,
      ({ id }) => navigate({ to: '/limits/$limitId', params: { limitId: id } }),
    ),
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
