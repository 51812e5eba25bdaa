import { Button, SegmentedControl, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { BellOff, BellRing } from 'lucide-react';
import type { AlertsQuery } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { BackLink, ButtonLink, ListPage, Loaded, Page } from '../components/page.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { usePages } from '../components/use-pages.ts';
import { choicesOf } from '../forms/fields.ts';
import { useSeesPart } from '../limits/use-limits.ts';
import { AlertCard } from './alert-card.tsx';
import { Cause } from './cause.tsx';

const PAGE = 20;
const REFRESH_MS = 30_000;

const nothing = { all: 'No alerts yet', triggered: 'No open alerts', acknowledged: 'No acknowledged alerts' } as const;
const views = choicesOf({ all: 'All', triggered: 'Open', acknowledged: 'Acknowledged' });

export const Alerts = () => {
  const { search, change } = usePageSearch('/members/alerts');
  const { status } = search;
  const seesPart = useSeesPart();
  const query = usePages('/alerts', { limit: PAGE, ...(status && { status }) }, () => REFRESH_MS);
  const { data, isEmpty, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  return (
    <ListPage
      title="Alerts"
      about="Rules that fired, once per period: by how much, and what drove the spend."
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Which alerts"
          data={views}
          value={status ?? 'all'}
          onChange={(value) => change({ status: value === 'all' ? undefined : (value as AlertsQuery['status']) })}
        />
      }
      query={query}
      skeleton
      empty={
        isEmpty && {
          icon: BellRing,
          title: nothing[status ?? 'all'],
          text: `Rules check spend, forecasts and failures every minute, and notify you by e-mail or webhook when a limit is reached.${seesPart ? ' Alerts of the whole account are not shown.' : ''}`,
          action: (
            <ButtonLink variant="light" size="xs" to="/limits">
              Go to limits
            </ButtonLink>
          ),
        }
      }
    >
      <Stack gap={14}>
        {data?.items.map((alert) => (
          <AlertCard key={alert.id} alert={alert} brief={alert.status === 'acknowledged'} />
        ))}
      </Stack>
      {hasNextPage && (
        <Button mx="auto" variant="default" size="xs" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Older alerts
        </Button>
      )}
    </ListPage>
  );
};

export const OneAlert = () => {
  const { alertId } = getRouteApi('/members/alerts/$alertId').useParams();
  const query = useApi().useQuery('get', '/alerts/{id}', { params: { path: { id: alertId } } });
  return (
    <Page title="Alert" back={<BackLink to="/alerts">All alerts</BackLink>}>
      <Loaded
        query={query}
        title="The alert could not be loaded"
        height={178}
        missing={{ icon: BellOff, title: 'Alert not found', text: 'It is in no part of the account that you see.' }}
      >
        {(alert) => (
          <>
            <AlertCard isPage alert={alert} final={alert.final} />
            <Cause alert={alert} />
          </>
        )}
      </Loaded>
    </Page>
  );
};
