import { Skeleton } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Workflow } from 'lucide-react';
import { Fragment } from 'react';
import type { RequestSummary, SessionAgent } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Count, Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { TextLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { Name } from '../components/name.tsx';
import { PageHead } from '../components/page-head.tsx';
import { plural } from '../format/quantity.ts';
import requestClasses from '../requests/requests.module.css';
import { Status } from '../requests/status.tsx';
import classes from './session.module.css';
import { agentTree } from './tree.ts';

/** Deeper agents are not indented more: a phone has no room for that. */
const MAX_INDENT = 4;

const AgentRow = ({ agent, depth }: { readonly agent: SessionAgent; readonly depth: number }) => (
  <tr className={classes['agent']}>
    <th scope="rowgroup" data-depth={Math.min(depth, MAX_INDENT)}>
      {agent.agentId === null ? 'Main agent' : <span className="mono">{agent.agentId}</span>}
      <span className="dim small"> · {plural(agent.requests, 'request')}</span>
    </th>
    <td className="wide-only" />
    <td className="wide-only" />
    <td className="right wide-only">
      <Count of={agent.tokens.inputTokens} unit="input tokens" />
    </td>
    <td className="right wide-only">
      <Count of={agent.tokens.outputTokens} unit="output tokens" />
    </td>
    <td className="right">
      <Money as="call" nano={agent.costNanoUsd} />
    </td>
  </tr>
);

const RequestRow = ({ request, depth }: { readonly request: RequestSummary; readonly depth: number }) => (
  <tr className={requestClasses['row']}>
    <td data-depth={Math.min(depth + 1, MAX_INDENT)} className={classes['request']}>
      <Link
        className={requestClasses['open']}
        to="/requests/$requestId"
        params={{ requestId: request.requestId }}
        search={{ session: request.session?.id }}
      >
        <Name of={request.model ?? request.path} />
      </Link>
    </td>
    <td className="wide-only">
      <Instant iso={request.startedAt} />
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
    <td className="right">
      <Money as="call" nano={request.costNanoUsd} />
    </td>
  </tr>
);

/** One session: its agents, and their requests. */
export const OneSession = () => {
  const { sessionId } = getRouteApi('/members/sessions/$sessionId').useParams();
  const query = useApi().useQuery('get', '/sessions/{sessionId}', {
    params: { path: { sessionId } },
  });
  const { data, error } = query;
  const isMissing = error?.error.code === 'NOT_FOUND';
  return (
    <div className="page">
      <PageHead title="Session" about={<span className="mono">{sessionId}</span>}>
        {data && (
          <div className="page-actions">
            <span className="dim small">
              {data.clients.join(', ')} · {plural(data.requests, 'request')}
            </span>
            <Money as="call" nano={data.costNanoUsd} />
          </div>
        )}
      </PageHead>
      {isMissing && (
        <section className="card">
          <EmptyState icon={Workflow} title="No such session">
            It may be older than 30 days, or than your plan keeps requests.
          </EmptyState>
        </section>
      )}
      {!isMissing && <LoadProblem query={query} title="The session could not be loaded" />}
      {(data || !error) && (
        <section className="card scroll-x" aria-label="Agents and requests" aria-busy={!data}>
          <table className={`grid-table ${requestClasses['table']}`}>
            <thead>
              <tr>
                <th>Agent, request</th>
                <th className="wide-only">Time</th>
                <th className="wide-only">Status</th>
                <th className="right wide-only">Tokens in</th>
                <th className="right wide-only">Tokens out</th>
                <th className="right">Cost</th>
              </tr>
            </thead>
            <tbody>
              {data ? (
                agentTree(data.agents).map(({ agent, depth }) => (
                  <Fragment key={agent.agentId ?? ''}>
                    <AgentRow agent={agent} depth={depth} />
                    {agent.items.map((request) => (
                      <RequestRow key={request.requestId} request={request} depth={depth} />
                    ))}
                  </Fragment>
                ))
              ) : (
                <tr>
                  <td colSpan={6}>
                    <Skeleton height={160} />
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </section>
      )}
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
