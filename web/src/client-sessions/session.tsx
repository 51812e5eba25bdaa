import { Box } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Workflow } from 'lucide-react';
import type { RequestSummary, SessionAgent } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money, Unpriced } from '../components/amount.tsx';
import { BackLink, TextLink } from '../components/links.tsx';
import { Loaded, PageHead } from '../components/page.tsx';
import { type Column, Name, Table, tokenColumns } from '../components/table.tsx';
import { shownIn } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { PauseButton } from '../limits/pause-button.tsx';
import requestClasses from '../requests/requests.module.css';
import { Status } from '../requests/status.tsx';
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
  {
    head: 'Cost',
    className: 'right',
    cell: ({ agent, request }) => (
      <Money as="call" nano={(agent ?? request).costNanoUsd} shown={shownIn(agent ?? request)} />
    ),
  },
];

/** One session: its agents, and their requests. */
export const OneSession = () => {
  const route = getRouteApi('/members/sessions/$sessionId');
  const { sessionId } = route.useParams();
  const days = route.useSearch();
  const query = useApi().useQuery('get', '/sessions/{sessionId}', {
    params: { path: { sessionId }, query: days },
  });
  const { data } = query;
  return (
    <div className="page">
      <PageHead
        title="Session"
        about={<span className="mono">{sessionId}</span>}
        back={
          <BackLink to="/sessions" search={days}>
            All sessions
          </BackLink>
        }
      >
        {data && (
          <>
            <span className="dim small">
              {data.clients.join(', ')} · {plural(data.requests, 'request')}
            </span>
            <Money as="call" nano={data.costNanoUsd} shown={shownIn(data)} /> <Unpriced of={data.unpricedRequests} />
            <PauseButton label="Pause" start={{ session: sessionId, name: 'Costly session' }} />
          </>
        )}
      </PageHead>
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
    </div>
  );
};
