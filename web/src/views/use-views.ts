import { useNavigate } from '@tanstack/react-router';
import type { ViewPage } from '../../../lambda/domain/accounts/saved-view.ts';
import type { View } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';

const paths = { overview: '/', compare: '/compare', requests: '/requests' } as const satisfies Record<ViewPage, string>;

export const pageNames: Readonly<Record<ViewPage, string>> = {
  overview: 'Overview',
  compare: 'Compare',
  requests: 'Requests',
};

export const useViews = () => {
  const navigate = useNavigate();
  const { may } = useMe();
  const { data, error } = useApi().useQuery('get', '/views', {}, { enabled: may('spend:read') });
  const open = ({ page, search }: View) => void navigate({ href: `${paths[page]}?${search}` });
  return { views: data?.items, error, open };
};
