import { Drawer, Skeleton, Stack } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { LoadProblem } from '../components/load-problem.tsx';
import { RequestDetails } from './request-details.tsx';

/** One request next to the list, with its own URL, so that it can be shared. */
export const RequestDrawer = () => {
  const { requestId } = getRouteApi('/members/requests/$requestId').useParams();
  const navigate = useNavigate();
  const query = useApi().useQuery('get', '/requests/{requestId}', {
    params: { path: { requestId } },
  });
  const { data, error } = query;
  const close = async () => {
    await navigate({ to: '/requests', search: true, resetScroll: false });
    document.querySelector<HTMLElement>(`a[href^="/requests/${CSS.escape(requestId)}"]`)?.focus();
  };
  return (
    <Drawer
      opened
      onClose={() => void close()}
      returnFocus={false}
      position="right"
      size={560}
      title={data ? (data.modelServed ?? data.modelRequested ?? data.path) : 'Request'}
    >
      <LoadProblem query={query} title="The request could not be loaded" />
      {!data && !error && (
        <Stack gap="lg">
          <Skeleton height={44} />
          <Skeleton height={160} />
          <Skeleton height={120} />
        </Stack>
      )}
      {data && <RequestDetails request={data} />}
    </Drawer>
  );
};
