import { Button, Skeleton } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { usePages } from '../api/use-pages.ts';
import { Instant } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { actionText, detailsText } from './texts.ts';

const PAGE = 50;

export const Audit = () => {
  const names = useKeyNames();
  const query = usePages('/audit', { limit: PAGE });
  const { items, isEmpty, error, isLoading, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Audit log</Heading>
          <p>Who changed what, when and from where, in the last 30 days.</p>
        </div>
      </div>
      <LoadProblem query={query} title="The audit log could not be loaded" />
      {isEmpty && (
        <section className="card">
          <EmptyState icon={ScrollText} title="No entries">
            Sign-ins and changes of members, keys, rules and the plan appear here.
          </EmptyState>
        </section>
      )}
      {!error && !isEmpty && (
        <ScrollRegion className="card scroll-x" label="Audit log">
          <table className="grid-table">
            <thead>
              <tr>
                <th>When</th>
                <th className="wide-only">Who</th>
                <th>What</th>
                <th className="wide-only">From</th>
              </tr>
            </thead>
            <tbody>
              {isLoading && (
                <tr>
                  <td colSpan={4}>
                    <Skeleton height={38} />
                  </td>
                </tr>
              )}
              {items.map(({ id, at, actor, action, details, before, clientAddress }) => (
                <tr key={id}>
                  <td className="nowrap">
                    <Instant iso={at} />
                  </td>
                  <td className="wide-only">{actor?.name ?? <span className="dim">the service</span>}</td>
                  <td>
                    {actionText(action)}
                    <span className="narrow-only dim"> by {actor?.name ?? 'the service'}</span>
                    <br />
                    <span className="dim small">{detailsText({ details, before }, names)}</span>
                  </td>
                  <td className="wide-only mono small">{clientAddress}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {hasNextPage && (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Older entries
        </Button>
      )}
    </div>
  );
};
