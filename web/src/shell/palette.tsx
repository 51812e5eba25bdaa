import '@mantine/spotlight/styles.css';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import {
  Bookmark,
  FolderKanban,
  History,
  KeyRound,
  type LucideIcon,
  Search,
  SlidersHorizontal,
  UserRound,
} from 'lucide-react';
import { useEffect } from 'react';
import { type Permission, useApi, useMe } from '../app.ts';
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
    icon: History,
  },
  { to: '/profile', label: 'Profile', description: 'Your name, e-mail, password and second factor', icon: UserRound },
] as const;

interface Thing {
  readonly id: string;
  readonly name: string;
}

const usePaletteGroups = (): SpotlightActionGroupData[] => {
  const navigate = useNavigate();
  const { may } = useMe();
  const { views = [], open } = useViews();
  const rules = useNamed('/alert-rules', 'rules:read');
  const budgets = useNamed('/budgets', 'rules:read');
  const limits = [
    ...rules.map((rule) => ({ ...rule, noun: 'Rule' })),
    ...budgets.map((budget) => ({ ...budget, noun: 'Budget' })),
  ];
  const pages = pageGroups.flatMap((group) =>
    group.pages.filter(({ needs }) => may(needs)).map((page) => ({ ...page, description: group.name })),
  );
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
    {
      group: 'Pages',
      actions: [...pages, ...furtherPages].map(({ to, label, description, icon: Icon }) => ({
        id: `page ${to}`,
        label,
        description,
        leftSection: <Icon size={17} aria-hidden />,
        onClick: () => void navigate({ to }),
      })),
    },
    group('Views', views, ({ page }) => `View of ${pageNames[page]}`, Bookmark, open),
    group('Spend of a key', useNamed('/keys', 'keys:read'), 'Key', KeyRound, ({ id }) =>
      navigate({ to: '/', search: { key: id } }),
    ),
    group('Spend of a project', useNamed('/projects', 'keys:read'), 'Project', FolderKanban, ({ id }) =>
      navigate({ to: '/', search: { project: id } }),
    ),
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
  const groups = usePaletteGroups();
  useEffect(() => spotlight.open(), []);
  return (
    <Spotlight
      actions={groups}
      nothingFound="Nothing has this name."
      shortcut={null}
      limit={12}
      highlightQuery
      scrollable
      onSpotlightClose={onClose}
      attributes={{ content: { 'aria-label': 'Command palette' } }}
      // On the selected action it is too pale.
      styles={{ actionDescription: { opacity: 1 } }}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Go to …',
        'aria-label': 'Go to a page, view, key, project, rule or budget',
      }}
    />
  );
};

export default Palette;
