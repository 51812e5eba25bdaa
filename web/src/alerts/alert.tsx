import { Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, BellOff } from 'lucide-react';
import { useEffect } from 'react';
import { usePages } from '../api/use-pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AlertCard } from './alert-card.tsx';

const PAGE = 100;

/** The page of one alert, which mails link to. The API has only a list: this reads pages until one has the alert. */
export const OneAlert = () => {
  const { alertId } = getRouteApi('/members/alerts/$alertId').useParams();
  const keyNames = useKeyNames();
  const { items, error, isSuccess, hasNextPage, fetchNextPage, isFetching, refetch } = usePages('/alerts', {
    limit: PAGE,
  });
  const alert = items.find(({ id }) => id === alertId);
  const isMissing = isSuccess && !alert && !hasNextPage;
  useEffect(() => {
    if (!alert && hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [alert, hasNextPage, isFetching, error, fetchNextPage]);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <AnchorLink to="/alerts" size="sm">
            <ArrowLeft size={14} aria-hidden /> All alerts
          </AnchorLink>
          <Heading>Alert</Heading>
        </div>
      </div>
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The alert could not be loaded" />}
      {!alert && !isMissing && !error && <Skeleton height={178} radius="lg" />}
      {isMissing && (
        <section className="card">
          <EmptyState icon={BellOff} title="Alert not found">
            It may belong to a different account.
          </EmptyState>
        </section>
      )}
      {alert && <AlertCard alert={alert} keyNames={keyNames} />}
    </div>
  );
};
