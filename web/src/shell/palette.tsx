import '@mantine/spotlight/styles.css';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { Bookmark, FolderKanban, History, KeyRound, Search, SlidersHorizontal, UserRound } from 'lucide-react';
import { useEffect } from 'react';
import { useApi } from '../app.ts';
import { type Permission, useMe } from '../session/permissions.ts';
import { pageNames, useViews } from '../views/use-views.ts';
import { pageGroups } from './navigation.ts';

/** What a list has of the account's things, where the user may see them. */
const useNamed = (path: '/keys' | '/projects' | '/alert-rules' | '/budgets', needs: Permission) => {
  const { may } = useMe();
  const { data } = useApi().useQuery('get', path, {}, { enabled: may(needs) });
  return (data?.items ?? []) as readonly { readonly id: string; readonly name: string }[];
};

const usePaletteGroups = (): SpotlightActionGroupData[] => {
  const navigate = useNavigate();
  const { may } = useMe();
  const keys = useNamed('/keys', 'keys:read');
  const projects = useNamed('/projects', 'keys:read');
  const rules = useNamed('/alert-rules', 'rules:read');
  const budgets = useNamed('/budgets', 'rules:read');
  const { views = [], open } = useViews();
  const pages = pageGroups.flatMap((group) =>
    group.pages
      .filter(({ needs }) => may(needs))
      .map(({ to, label, icon: Icon }) => ({
        id: `page ${to}`,
        label,
        description: group.name,
        leftSection: <Icon size={17} aria-hidden />,
        onClick: () => void navigate({ to }),
      })),
  );
  /** Pages that the menu has no entry for: others lead to them. */
  const further = [
    {
      id: 'page /price-changes',
      label: 'Price changes',
      description: 'What new list prices did to recorded costs',
      leftSection: <History size={17} aria-hidden />,
      onClick: () => void navigate({ to: '/price-changes' }),
    },
    {
      id: 'page /profile',
      label: 'Profile',
      description: 'Your name, e-mail, password and second factor',
      leftSection: <UserRound size={17} aria-hidden />,
      onClick: () => void navigate({ to: '/profile' }),
    },
  ];
  return [
    { group: 'Pages', actions: [...pages, ...further] },
    {
      group: 'Views',
      actions: views.map((view) => ({
        id: `view ${view.id}`,
        label: view.name,
        description: `View of ${pageNames[view.page]}`,
        leftSection: <Bookmark size={17} aria-hidden />,
        onClick: () => open(view),
      })),
    },
    {
      group: 'Spend of a key',
      actions: keys.map(({ id, name }) => ({
        id: `key ${id}`,
        label: name,
        description: 'Key',
        leftSection: <KeyRound size={17} aria-hidden />,
        onClick: () => void navigate({ to: '/', search: { key: id } }),
      })),
    },
    {
      group: 'Spend of a project',
      actions: projects.map(({ id, name }) => ({
        id: `project ${id}`,
        label: name,
        description: 'Project',
        leftSection: <FolderKanban size={17} aria-hidden />,
        onClick: () => void navigate({ to: '/', search: { project: id } }),
      })),
    },
    {
      group: 'Limits',
      actions: [
        ...rules.map((rule) => ({ ...rule, noun: 'Rule' })),
        ...budgets.map((budget) => ({ ...budget, noun: 'Budget' })),
      ].map(({ id, name, noun }) => ({
        id: `limit ${id}`,
        label: name,
        description: noun,
        leftSection: <SlidersHorizontal size={17} aria-hidden />,
        onClick: () => void navigate({ to: '/limits/$limitId', params: { limitId: id } }),
      })),
    },
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
