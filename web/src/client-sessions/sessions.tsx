import { SegmentedControl, Skeleton } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Workflow } from 'lucide-react';
import type { SessionSummary } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Count, Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { Name } from '../components/name.tsx';
import { formatExact, plural } from '../format/quantity.ts';
import requestClasses from '../requests/requests.module.css';

const LIMIT = 100;
const orders = [
  { value: 'cost', label: 'Costliest' },
  { value: 'time', label: 'Latest' },
];

/** The start of an hour such as `2026-11-20T16`. */
const startOfHour = (hour: string): string => `${hour}:00:00Z`;

const Row = ({ session }: { readonly session: SessionSummary }) => (
  <tr className={requestClasses['row']}>
    <td>
      <Link className={requestClasses['open']} to="/sessions/$sessionId" params={{ sessionId: session.id }}>
        <Name of={session.id} className="mono" />
        <span className="dim small">{session.clients.join(', ') || 'client not recognized'}</span>
      </Link>
    </td>
    <td className="wide-only">
      <Instant iso={startOfHour(session.lastHour)} />
    </td>
    <td className="right num wide-only">{formatExact(session.agents)}</td>
    <td className="right">
      <Count of={session.requests} unit="requests" />
    </td>
    <td className="right wide-only">
      <Count of={session.tokens.inputTokens + session.tokens.outputTokens} unit="tokens" />
    </td>
    <td className="right">
      <Money nano={session.costNanoUsd} />
    </td>
  </tr>
);

/** The sessions of the last 30 days. */
export const Sessions = () => {
  const { orderBy = 'cost' } = getRouteApi('/members/sessions').useSearch();
  const navigate = useNavigate({ from: '/sessions' });
  const query = useApi().useQuery('get', '/sessions', {
    params: { query: { orderBy, limit: LIMIT } },
  });
  const { data, error } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Sessions</Heading>
          <p>
            The requests of one session of a coding agent or of your own program (header X-Service-Session), with what
            its agents cost.
          </p>
        </div>
        <div className="page-actions">
          {data && <span className="dim small num">{plural(data.sessions, 'session')} in 30 days</span>}
          <SegmentedControl
            size="xs"
            aria-label="Order"
            data={orders}
            value={orderBy}
            onChange={(order) => void navigate({ search: order === 'time' ? { orderBy: order } : {}, replace: true })}
          />
        </div>
      </div>
      <LoadProblem query={query} title="The sessions could not be loaded" />
      {data?.isComplete === false && (
        <p className="dim small">
          There are too many sessions to read at once: these are the sessions from <Instant iso={data.from} /> on.
        </p>
      )}
      {data?.sessions === 0 ? (
        <section className="card">
          <EmptyState icon={Workflow} title="No sessions yet">
            Claude Code, Codex and opencode send session ids by themselves. Other programs send the header
            X-Service-Session.
          </EmptyState>
        </section>
      ) : (
        (data || !error) && (
          <section className="card scroll-x" aria-label="Sessions" aria-busy={!data}>
            <table className={`grid-table ${requestClasses['table']}`}>
              <thead>
                <tr>
                  <th>Session</th>
                  <th className="wide-only">Last hour</th>
                  <th className="right wide-only">Agents</th>
                  <th className="right">Requests</th>
                  <th className="right wide-only">Tokens</th>
                  <th className="right">Cost</th>
                </tr>
              </thead>
              <tbody>
                {data
                  ? data.items.map((session) => <Row key={session.id} session={session} />)
                  : [1, 2, 3, 4].map((row) => (
                      <tr key={row}>
                        <td colSpan={6}>
                          <Skeleton height={36} />
                        </td>
                      </tr>
                    ))}
              </tbody>
            </table>
          </section>
        )
      )}
    </div>
  );
};
