import { Button, Group, Progress, Stack } from '@mantine/core';
import type { Archive } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { formatBytes } from '../format/quantity.ts';

const POLL_MS = 5_000;

const ArchiveRow = ({ archive }: { readonly archive: Archive }) => {
  const { id, status, progress, requestedAt, bytes, availableUntil } = archive;
  const { may } = useMe();
  const link = useApi().useMutation('post', '/account/archives/{id}/link', {
    onSuccess: ({ url }) => location.assign(url),
    onError: notifyProblem('The archive could not be downloaded'),
  });
  return (
    <Group justify="space-between">
      <span className="small">
        Asked for <Instant iso={requestedAt} ago />
        {status === 'ready' && (
          <span className="dim">
            {' '}
            · {formatBytes(bytes)}
            {availableUntil && (
              <>
                {' '}
                · until <Instant iso={availableUntil} />
              </>
            )}
          </span>
        )}
        {status === 'failed' && <span className="unknown"> · failed: ask for another</span>}
      </span>
      {status === 'pending' && <Progress value={progress} w={160} aria-label={`${progress} % written`} />}
      {status === 'ready' && may('account:write') && (
        <Button
          size="compact-sm"
          variant="default"
          loading={link.isPending}
          onClick={() => link.mutate({ params: { path: { id } } })}
        >
          Download
        </Button>
      )}
    </Group>
  );
};

/** Everything the account has, in one file. It is written in the background. */
export const ExportData = () => {
  const { may } = useMe();
  const api = useApi();
  const query = api.useQuery(
    'get',
    '/account/archives',
    {},
    {
      refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === 'pending') ? POLL_MS : false),
    },
  );
  const { data } = query;
  const create = api.useMutation('post', '/account/archives');
  const isPending = data?.items.some(({ status }) => status === 'pending') ?? false;
  return (
    <Stack>
      <LoadProblem query={query} title="The archives could not be loaded" />
      {create.isError && <ProblemNote error={create.error} title="No archive was begun" />}
      {data?.items.map((archive) => (
        <ArchiveRow key={archive.id} archive={archive} />
      ))}
      {may('account:write') && (
        <Group>
          <Button variant="default" loading={create.isPending} disabled={isPending} onClick={() => create.mutate({})}>
            Export all data
          </Button>
        </Group>
      )}
    </Stack>
  );
};
