import { Button, Skeleton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Download, List } from 'lucide-react';
import type { RequestSummary } from '../api/responses.ts';
import { useApp } from '../app.ts';
import { Count, Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { Name } from '../components/name.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { PageHead } from '../components/page-head.tsx';
import { usePages } from '../components/use-pages.ts';
import { shownIn } from '../format/money.ts';
import { formatDuration } from '../format/quantity.ts';
import { providerName } from '../providers/names.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { exportRequests } from './export-requests.ts';
import { RequestFilters } from './filters.tsx';
import { provenanceNames } from './names.ts';
import classes from './requests.module.css';
import type { RequestsSearch } from './search.ts';
import { Status } from './status.tsx';

const PAGE = 50;
const REFRESH_MS = 30_000;

const Row = ({ request }: { readonly request: RequestSummary }) => (
  <tr className={classes['row']}>
    <td>
      <Link
        className={classes['open']}
        to="/requests/$requestId"
        params={{ requestId: request.requestId }}
        search={true}
        resetScroll={false}
      >
        <Name of={request.model ?? request.path} className={classes['model']} />
        <span className="dim small">
          {providerName(request.provider)}
          <span className="narrow-only">
            {' '}
            · <Instant iso={request.startedAt} />
          </span>
        </span>
      </Link>
    </td>
    <td className="wide-only">
      <Instant iso={request.startedAt} />
    </td>
    <td className="wide-only">
      {request.tag === null ? <span className="dim">–</span> : <span className={classes['tag']}>{request.tag}</span>}
    </td>
    <td className="wide-only">
      <Status request={request} />
    </td>
    <td className="right wide-only">
      <Count of={request.inputTokens} unit="input tokens" />
    </td>
    <td className="right wide-only">
      <Count of={request.outputTokens} unit="output tokens" />
    </td>
    <td className="right num wide-only">{formatDuration(request.totalMs)}</td>
    <td className="right">
      <span title={provenanceNames[request.provenance]}>
        {request.provenance === 'estimated' && '≈ '}
        <Money as="call" nano={request.costNanoUsd} shown={shownIn(request)} />
        {request.provenance === 'free' && <span className={classes['about']}>free</span>}
      </span>
      <span className="narrow-only">
        <Status request={request} />
      </span>
    </td>
  </tr>
);

const SkeletonRows = () =>
  Array.from({ length: 12 }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical.
    <tr key={row}>
      <td colSpan={8}>
        <Skeleton height={36} />
      </td>
    </tr>
  ));

const CsvButton = ({ search }: { readonly search: RequestsSearch }) => {
  const { api } = useApp();
  const download = useMutation({
    mutationFn: () => exportRequests(api, search),
    onSuccess: (isWhole) => {
      if (!isWhole) notifyDone('The file has the first 5,000 requests. Choose a shorter range for the rest.');
    },
    onError: notifyProblem('The export failed'),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={download.isPending}
      leftSection={<Download size={14} />}
      title="Download the requests that pass the filters"
      onClick={() => download.mutate()}
    >
      CSV
    </Button>
  );
};

/** The request log, page by page. */
export const Requests = () => {
  const search = getRouteApi('/members/requests').useSearch();
  const query = usePages(
    '/requests',
    { ...search, limit: PAGE },
    // Refreshes only while one page is loaded: a longer list must not move while the user scrolls.
    { refreshMs: (pages) => (pages > 1 ? false : REFRESH_MS) },
  );
  const { items, isEmpty, error, isLoading, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const examinedFrom = query.data?.pages[0]?.examinedFrom;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div className="page">
      <PageHead
        title="Requests"
        about="Every tracked request: its usage, its cost, and how the cost is known. Bodies are never stored."
      >
        <div className="page-actions">
          <ViewsButton page="requests" />
          <CsvButton search={search} />
        </div>
      </PageHead>
      <RequestFilters search={search} />
      {examinedFrom && (
        <p className="dim small">
          The highest of the newest 5,000 requests, which go back to <Instant iso={examinedFrom} />. Choose an earlier
          range for older ones.
        </p>
      )}
      <LoadProblem query={query} title="The requests could not be loaded" />
      {isEmpty ? (
        <section className="card">
          <EmptyState icon={List} title={isFiltered ? 'No request matches' : 'No requests yet'}>
            {isFiltered
              ? 'Your plan limits how long requests are kept; spend is kept longer.'
              : 'Each request appears here a few seconds after its response.'}
          </EmptyState>
        </section>
      ) : (
        (!error || items.length > 0) && (
          <section className="card scroll-x" aria-label="Requests" aria-busy={isLoading}>
            <table className={`grid-table ${classes['table']}`}>
              <thead>
                <tr>
                  <th>Model</th>
                  <th className="wide-only">Time</th>
                  <th className="wide-only">Tag</th>
                  <th className="wide-only">Status</th>
                  <th className="right wide-only">Tokens in</th>
                  <th className="right wide-only">Tokens out</th>
                  <th className="right wide-only">Duration</th>
                  <th className="right">Cost</th>
                </tr>
              </thead>
              <tbody>
                {isLoading ? (
                  <SkeletonRows />
                ) : (
                  items.map((request) => <Row key={request.requestId} request={request} />)
                )}
              </tbody>
            </table>
            {hasNextPage && (
              <div className={classes['next']}>
                {items.length === 0 && <span className="dim small">No match among the newest requests.</span>}
                <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
                  {items.length === 0 ? 'Search older requests' : 'Older requests'}
                </Button>
              </div>
            )}
          </section>
        )
      )}
      <Outlet />
    </div>
  );
};
