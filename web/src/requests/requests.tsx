import { Badge, Button, Group } from '@mantine/core';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { List } from 'lucide-react';
import type { RequestSummary } from '../api/responses.ts';
import { notifyDone, useApp } from '../app.ts';
import { Cost, Instant } from '../components/amount.tsx';
import { DownloadButton } from '../components/download.tsx';
import { ListPage } from '../components/page.tsx';
import { type Column, Name, Table, tokenColumns } from '../components/table.tsx';
import { usePages } from '../components/use-pages.ts';
import { formatDuration, plural } from '../format/numbers.ts';
import { providerName } from '../providers/names.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { exportRequests } from './export-requests.ts';
import { RequestFilters } from './filters.tsx';
import classes from './requests.module.css';
import type { RequestsSearch } from './search.ts';
import { provenanceNames, Status } from './status.tsx';

const PAGE = 50;
const REFRESH_MS = 30_000;

const tagLook = { color: 'gray', radius: 'sm', fz: 12.5, fw: 400, miw: 60, maw: 160 } as const;

const columns: readonly Column<RequestSummary>[] = [
  {
    head: 'Model',
    cell: ({ requestId, model, path, provider, startedAt }) => (
      <Link
        className={`${classes['open']} whole-row`}
        to="/requests/$requestId"
        params={{ requestId }}
        search={true}
        resetScroll={false}
      >
        <Name of={model ?? path} className={classes['model']} />
        <span className="dim small">
          {providerName(provider)}
          <span className="narrow-only">
            {' '}
            · <Instant iso={startedAt} />
          </span>
        </span>
      </Link>
    ),
  },
  { head: 'Time', className: 'wide-only', cell: ({ startedAt }) => <Instant iso={startedAt} /> },
  {
    head: 'Tag',
    className: 'wide-only',
    cell: ({ tag }) => (tag === null ? <span className="dim">–</span> : <Badge {...tagLook}>{tag}</Badge>),
  },
  { head: 'Status', className: 'wide-only', cell: (request) => <Status request={request} /> },
  ...tokenColumns<RequestSummary>((request) => request),
  { head: 'Duration', className: 'right num wide-only', cell: ({ totalMs }) => formatDuration(totalMs) },
  {
    head: 'Cost',
    className: 'right',
    cell: (request) => (
      <>
        <span title={provenanceNames[request.provenance]}>
          {request.provenance === 'estimated' && '≈ '}
          <Cost as="call" of={request} />
          {request.provenance === 'free' && <span className="dim small"> free</span>}
        </span>
        <span className="narrow-only">
          <Status request={request} />
        </span>
      </>
    ),
  },
];

const SKELETONS = Array.from({ length: 12 }, () => 36);

const CsvButton = ({ search }: { readonly search: RequestsSearch }) => {
  const { api } = useApp();
  const download = async () => {
    const { isWhole, unreadableRequests } = await exportRequests(api, search);
    if (!isWhole) notifyDone('The file has the first 5,000 requests. Choose a shorter range for the rest.');
    if (unreadableRequests > 0) notifyDone(notListed(unreadableRequests));
  };
  return <DownloadButton title="Download the requests that pass the filters" download={download} />;
};

const notListed = (requests: number): string =>
  `${plural(requests, 'request')} not listed: this version cannot read what is on record of them.`;

export const Requests = () => {
  const search = getRouteApi('/members/requests').useSearch();
  const query = usePages(
    '/requests',
    { ...search, limit: PAGE },
    // Refreshes only while one page is loaded: a longer list must not move while the user scrolls.
    (pages) => (pages > 1 ? false : REFRESH_MS),
  );
  const { data, isEmpty, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListPage
      title="Requests"
      about="Every tracked request: its usage, its cost, and how the cost is known. Bodies are never stored."
      actions={
        <>
          <ViewsButton page="requests" />
          <CsvButton search={search} />
        </>
      }
      query={query}
    >
      <RequestFilters />
      {data?.examinedFrom && (
        <p className="dim small">
          The highest of the newest 5,000 requests, which go back to <Instant iso={data.examinedFrom} />. Choose an
          earlier range for older ones.
        </p>
      )}
      {data && data.unreadableRequests > 0 && <p className="unknown small">{notListed(data.unreadableRequests)}</p>}
      <Table
        label="Requests"
        columns={columns}
        query={query}
        keyOf={({ requestId }) => requestId}
        skeletons={SKELETONS}
        className={classes['table']}
        rowClassName={() => classes['row']}
        empty={
          isEmpty && {
            icon: List,
            title: isFiltered ? 'No request matches' : 'No requests yet',
            text: isFiltered
              ? 'Your plan limits how long requests are stored; spend is stored longer.'
              : 'Each request appears here a few seconds after its response.',
          }
        }
      >
        {hasNextPage && (
          <Group justify="center" p={14}>
            {data?.items.length === 0 && <span className="dim small">No match among the newest requests.</span>}
            <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
              {data?.items.length === 0 ? 'Search older requests' : 'Older requests'}
            </Button>
          </Group>
        )}
      </Table>
      <Outlet />
    </ListPage>
  );
};
