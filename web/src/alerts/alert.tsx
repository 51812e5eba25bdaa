import { Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { BellOff } from 'lucide-react';
import { problemOf } from '../api/problem.ts';
import { useApi } from '../app.ts';
import { BackLink } from '../components/links.tsx';
import { EmptyState, LoadProblem, PageHead } from '../components/page.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AlertCard } from './alert-card.tsx';
import { Cause } from './cause.tsx';

/** The page of one alert, which mails link to. */
export const OneAlert = () => {
  const { alertId } = getRouteApi('/members/alerts/$alertId').useParams();
  const keyNames = useKeyNames();
  const query = useApi().useQuery('get', '/alerts/{id}', { params: { path: { id: alertId } } });
  const { data: alert, error } = query;
  const isMissing = problemOf(error).code === 'NOT_FOUND';
  return (
    <div className="page">
      <PageHead title="Alert" back={<BackLink to="/alerts">All alerts</BackLink>} />
      {!isMissing && <LoadProblem query={query} title="The alert could not be loaded" />}
      {!alert && !error && <Skeleton height={178} radius="lg" />}
      {isMissing && (
        <section className="card">
          <EmptyState icon={BellOff} title="Alert not found">
            It may belong to a different account.
          </EmptyState>
        </section>
      )}
      {alert && <AlertCard isPage alert={alert} final={alert.final} keyNames={keyNames} />}
      {alert && <Cause alert={alert} keyNames={keyNames} />}
    </div>
  );
};
