import { SegmentedControl } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Workflow } from 'lucide-react';
import type { SessionSummary } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { CostOf, Count, Instant } from '../components/amount.tsx';
import { ListPage } from '../components/page.tsx';
import { type Column, Name, Table } from '../components/table.tsx';
import { shownIn } from '../format/money.ts';
import { formatExact, plural } from '../format/quantity.ts';
import { choicesOf } from '../forms/fields.ts';
import requestClasses from '../requests/requests.module.css';
import { ListDays } from '../spend/custom-days.tsx';

/** The most that the API lists. */
const LIMIT = 200;
const orders = choicesOf({ cost: 'Costliest', time: 'Latest' });

/** The start of an hour such as `2026-11-20T16`. */
const startOfHour = (hour: string): string => `${hour}:00:00Z`;

export const sessionCost: Column<SessionSummary> = {
  head: 'Cost',
  className: 'right',
  cell: (session) => <CostOf nano={session.costNanoUsd} unpriced={session.unpricedRequests} shown={shownIn(session)} />,
};

export const sessionColumns: readonly Column<SessionSummary>[] = [
  {
    head: 'Session',
    cell: ({ id, clients }) => (
      <Link
        className={`${requestClasses['open']} whole-row`}
        to="/sessions/$sessionId"
        params={{ sessionId: id }}
        search={({ from, to }) => ({ from, to })}
      >
        <Name of={id} className="mono" />
        <span className="dim small">{clients.join(', ') || 'client not recognized'}</span>
      </Link>
    ),
  },
  { head: 'Last hour', className: 'wide-only', cell: ({ lastHour }) => <Instant iso={startOfHour(lastHour)} /> },
  { head: 'Agents', className: 'right num wide-only', cell: ({ agents }) => formatExact(agents) },
  { head: 'Requests', className: 'right', cell: ({ requests }) => <Count of={requests} unit="requests" /> },
  {
    head: 'Tokens',
    className: 'right wide-only',
    cell: ({ tokens }) => <Count of={tokens.inputTokens + tokens.outputTokens} unit="tokens" />,
  },
  sessionCost,
];

/** The sessions of the last 30 days, or of those that are chosen. */
export const Sessions = () => {
  const search = getRouteApi('/members/sessions').useSearch();
  const { orderBy = 'cost' } = search;
  const navigate = useNavigate({ from: '/sessions' });
  const query = useApi().useQuery('get', '/sessions', {
    params: { query: { ...search, orderBy, limit: LIMIT } },
  });
  const { data } = query;
  return (
    <ListPage
      title="Sessions"
      about="The requests of one session of a coding agent or of your own program (header X-Service-Session), with what its agents cost."
      actions={
        <>
          {data && <span className="dim small num">{plural(data.sessions, 'session')}</span>}
          <ListDays
            search={search}
            onChange={(days) => void navigate({ search: { ...search, ...days }, replace: true })}
          />
          <SegmentedControl
            size="xs"
            aria-label="Order"
            data={orders}
            value={orderBy}
            onChange={(order) =>
              void navigate({ search: { ...search, orderBy: order === 'time' ? order : undefined }, replace: true })
            }
          />
        </>
      }
      query={query}
    >
      {data?.isComplete === false && (
        <p className="dim small">
          There are too many sessions to read at once: these are the sessions from <Instant iso={data.from} /> on.
        </p>
      )}
      <Table
        label="Sessions"
        columns={sessionColumns}
        query={query}
        textOf={({ id, clients }) => [id, ...clients].join(' ')}
        skeletons={[36, 36, 36, 36]}
        className={requestClasses['table']}
        rowClassName={() => requestClasses['row']}
        empty={{
          icon: Workflow,
          title: 'No sessions',
          text: 'Claude Code, Codex and opencode send session ids by themselves. Other programs send the header X-Service-Session.',
        }}
      >
        {data && data.sessions > data.items.length && (
          <p className="dim small card-pad">
            {`The ${data.items.length} ${orderBy === 'cost' ? 'costliest' : 'latest'} of ${plural(data.sessions, 'session')}. Choose fewer days to see others.`}
          </p>
        )}
      </Table>
    </ListPage>
  );
};
