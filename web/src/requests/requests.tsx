import { Button, Skeleton } from '@mantine/core';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { List } from 'lucide-react';
import type { RequestSummary } from '../api/responses.ts';
import { usePages } from '../api/use-pages.ts';
import { Count, Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { shownIn } from '../format/money.ts';
import { formatDuration } from '../format/quantity.ts';
import { providerName } from '../providers/names.ts';
import { RequestFilters } from './filters.tsx';
import { provenanceNames } from './names.ts';
import classes from './requests.module.css';
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
        <span className={`truncate ${classes['model']}`}>{request.model ?? request.path}</span>
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
        <Money as="call" nano={request.costNanoUsd} shown={shownIn(request)} />
        {request.provenance === 'estimated' && <span className={classes['about']}>estimated</span>}
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

/** The request log: newest first, page by page. */
export const Requests = () => {
  const search = getRouteApi('/members/requests').useSearch();
  const query = usePages(
    '/requests',
    { ...search, limit: PAGE },
    // Refreshes only while one page is loaded: a longer list must not move while the user scrolls.
    { refreshMs: (pages) => (pages > 1 ? false : REFRESH_MS) },
  );
  const { items, isEmpty, error, isLoading, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Requests</Heading>
          <p>
            Every tracked request, newest first: its usage, its cost, and how the cost is known. Bodies are never
            stored.
          </p>
        </div>
      </div>
      <RequestFilters search={search} />
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
