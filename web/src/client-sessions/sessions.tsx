import { Box, SegmentedControl } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Workflow } from 'lucide-react';
import type { RequestSummary, SessionAgent, SessionSummary } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Cost, CostAndUnpriced, Count, Instant, Unpriced } from '../components/amount.tsx';
import { BackLink, ListPage, Loaded, Page, TextLink } from '../components/page.tsx';
import { type Column, Name, Table, tokenColumns } from '../components/table.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { formatExact, plural } from '../format/numbers.ts';
import { choicesOf } from '../forms/fields.ts';
import { PauseButton } from '../limits/pause-button.tsx';
import requestClasses from '../requests/requests.module.css';
import { Status } from '../requests/status.tsx';
import { ListDays } from '../spend/custom-days.tsx';
import { agentTree } from './tree.ts';

/** Deeper agents are not indented more: a phone has no room for that. */
const MAX_INDENT = 4;
const INDENT_PX = 18;

/** An agent, or one of its requests, which are a step deeper. */
type Row = { readonly depth: number } & (
  | { readonly agent: SessionAgent; readonly request?: undefined }
  | { readonly agent?: undefined; readonly request: RequestSummary }
);

const rowsOf = (agents: readonly SessionAgent[]): readonly Row[] =>
  agentTree(agents).flatMap(({ agent, depth }) => [
    { agent, depth },
    ...agent.items.map((request) => ({ request, depth: depth + 1 })),
  ]);

const columns: readonly Column<Row>[] = [
  {
    head: 'Agent, request',
    cell: ({ agent, request, depth }) => (
      <Box pl={INDENT_PX * Math.min(depth, MAX_INDENT)}>
        {agent ? (
          <>
            <strong>{agent.agentId === null ? 'Main agent' : <span className="mono">{agent.agentId}</span>}</strong>
            <span className="dim small"> · {plural(agent.requests, 'request')}</span>
          </>
        ) : (
          <Link
            className={`${requestClasses['open']} whole-row`}
            to="/requests/$requestId"
            params={{ requestId: request.requestId }}
            search={{ session: request.session?.id }}
          >
            <Name of={request.model ?? request.path} />
          </Link>
        )}
      </Box>
    ),
  },
  { head: 'Time', className: 'wide-only', cell: ({ request }) => request && <Instant iso={request.startedAt} /> },
  { head: 'Status', className: 'wide-only', cell: ({ request }) => request && <Status request={request} /> },
  ...tokenColumns<Row>(({ agent, request }) => (agent ? agent.tokens : request)),
  { head: 'Cost', className: 'right', cell: ({ agent, request }) => <Cost as="call" of={agent ?? request} /> },
];

export const OneSession = () => {
  const route = getRouteApi('/members/sessions/$sessionId');
  const { sessionId } = route.useParams();
  const days = route.useSearch();
  const query = useApi().useQuery('get', '/sessions/{sessionId}', {
    params: { path: { sessionId }, query: days },
  });
  const { data } = query;
  return (
    <Page
      title="Session"
      about={<span className="mono">{sessionId}</span>}
      back={
        <BackLink to="/sessions" search={days}>
          All sessions
        </BackLink>
      }
      actions={
        data && (
          <>
            <span className="dim small">
              {data.clients.join(', ')} · {plural(data.requests, 'request')}
            </span>
            <Cost as="call" of={data} /> <Unpriced of={data.unpricedRequests} />
            <PauseButton label="Pause" start={{ session: sessionId, name: 'Costly session' }} />
          </>
        )
      }
    >
      <Loaded
        query={query}
        title="The session could not be loaded"
        height={180}
        missing={{
          icon: Workflow,
          title: 'No such session',
          text: 'It may be older than 30 days or than your plan keeps requests, or of keys that you do not see.',
        }}
      >
        {({ agents }) => (
          <Table
            label="Agents and requests"
            columns={columns}
            items={rowsOf(agents)}
            keyOf={({ agent, request }) => request?.requestId ?? `agent ${agent?.agentId}`}
            className={requestClasses['table']}
            rowClassName={({ agent }) => (agent ? requestClasses['agent'] : requestClasses['row'])}
          />
        )}
      </Loaded>
      {data?.isComplete === false && (
        <p className="dim small">
          Not all requests are listed here.{' '}
          <TextLink to="/requests" search={{ session: sessionId }}>
            All requests of this session
          </TextLink>
        </p>
      )}
    </Page>
  );
};

/** The most that the API lists. */
const LIMIT = 200;
const orders = choicesOf({ cost: 'Costliest', time: 'Latest' });

export const sessionCost: Column<SessionSummary> = {
  head: 'Cost',
  className: 'right',
  cell: (session) => <CostAndUnpriced of={session} />,
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
  { head: 'Last hour', className: 'wide-only', cell: ({ lastHour }) => <Instant iso={`${lastHour}:00:00Z`} /> },
  { head: 'Agents', className: 'right num wide-only', cell: ({ agents }) => formatExact(agents) },
  { head: 'Requests', className: 'right', cell: ({ requests }) => <Count of={requests} unit="requests" /> },
  {
    head: 'Tokens',
    className: 'right wide-only',
    cell: ({ tokens }) => <Count of={tokens.inputTokens + tokens.outputTokens} unit="tokens" />,
  },
  sessionCost,
];

export const Sessions = () => {
  const { search, change } = usePageSearch('/members/sessions');
  const { orderBy = 'cost' } = search;
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
          <ListDays search={search} onChange={change} />
          <SegmentedControl
            size="xs"
            aria-label="Order"
            data={orders}
            value={orderBy}
            onChange={(order) => change({ orderBy: order === 'time' ? order : undefined })}
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
