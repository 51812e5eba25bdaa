import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LoadProblem } from './load-problem.tsx';
import { PageHead } from './page-head.tsx';

interface ListPageProps {
  readonly title: string;
  readonly about: ReactNode;
  readonly actions?: ReactNode;
  readonly query: Pick<UseQueryResult<unknown, unknown>, 'error' | 'data' | 'dataUpdatedAt' | 'fetchStatus'>;
  /** Plural name of the items: `rules`. */
  readonly things: string;
  /** For pages whose list has no skeleton of its own. */
  readonly skeleton?: boolean;
  /** Given where the list has no item. */
  readonly empty?: ReactNode;
  readonly children: ReactNode;
}

/** A page of a list: its head, why it has no items or old ones, a skeleton while it loads, and what there is where it is empty. */
export const ListPage = ({ title, about, actions, query, things, skeleton, empty, children }: ListPageProps) => (
  <div className="page">
    <PageHead title={title} about={about}>
      {actions}
    </PageHead>
    <LoadProblem query={query} title={`The ${things} could not be loaded`} />
    {skeleton && !query.data && !query.error && <Skeleton height={220} radius="lg" />}
    {empty && <section className="card">{empty}</section>}
    {children}
  </div>
);
