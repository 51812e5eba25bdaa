import { Button, SegmentedControl, Skeleton } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { BellRing } from 'lucide-react';
import { usePages } from '../api/use-pages.ts';
import { Heading } from '../components/heading.tsx';
import { ButtonLink } from '../components/links.tsx';
import { Nothing } from '../components/nothing.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AlertCard } from './alert-card.tsx';
import classes from './alerts.module.css';
import type { AlertsSearch } from './search.ts';

const PAGE = 20;
const EVERY_MS = 30_000;

const views = [
  { value: 'all', label: 'All' },
  { value: 'triggered', label: 'Open' },
  { value: 'acknowledged', label: 'Acknowledged' },
];

export const Alerts = () => {
  const { status } = getRouteApi('/members/alerts').useSearch();
  const navigate = useNavigate({ from: '/alerts' });
  const keyNames = useKeyNames();
  const { items, isEmpty, error, isLoading, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    '/alerts',
    { limit: PAGE, ...(status && { status }) },
    { refreshMs: () => EVERY_MS },
  );
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Alerts</Heading>
          <p>Rules that fired, each once for its period: by how much, and what drove it.</p>
        </div>
        <SegmentedControl
          size="xs"
          aria-label="Which alerts"
          data={views}
          value={status ?? 'all'}
          onChange={(value) =>
            void navigate({ search: { status: value === 'all' ? undefined : (value as AlertsSearch['status']) } })
          }
        />
      </div>
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The alerts could not be read" />}
      {isLoading && [1, 2, 3].map((each) => <Skeleton key={each} height={178} radius="lg" />)}
      {isEmpty && (
        <section className="card">
          <Nothing
            icon={BellRing}
            title={status === 'triggered' ? 'Nothing is open' : 'No alert has fired'}
            action={
              <ButtonLink variant="light" size="xs" to="/rules">
                To the rules
              </ButtonLink>
            }
          >
            A rule watches spend, forecasts or failures every minute, and tells you by mail or webhook when its limit is
            passed.
          </Nothing>
        </section>
      )}
      <div className={classes['list']}>
        {items.map((alert) => (
          <AlertCard key={alert.id} alert={alert} keyNames={keyNames} brief={alert.status === 'acknowledged'} />
        ))}
      </div>
      {hasNextPage && (
        <Button
          className={classes['more']}
          variant="default"
          size="xs"
          loading={isFetchingNextPage}
          onClick={() => fetchNextPage()}
        >
          Older alerts
        </Button>
      )}
    </div>
  );
};
