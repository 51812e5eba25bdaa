import { Button, SegmentedControl, Stack } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { BellRing } from 'lucide-react';
import type { AlertsQuery } from '../api/responses.ts';
import { isChoosingByKey } from '../components/keyboard.ts';
import { ButtonLink } from '../components/links.tsx';
import { ListPage } from '../components/page.tsx';
import { usePages } from '../components/use-pages.ts';
import { choicesOf } from '../forms/fields.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { AlertCard } from './alert-card.tsx';

const PAGE = 20;
const REFRESH_MS = 30_000;

const views = choicesOf({ all: 'All', triggered: 'Open', acknowledged: 'Acknowledged' });

export const Alerts = () => {
  const { status } = getRouteApi('/members/alerts').useSearch();
  const navigate = useNavigate({ from: '/alerts' });
  const keyNames = useKeyNames();
  const query = usePages('/alerts', { limit: PAGE, ...(status && { status }) }, { refreshMs: () => REFRESH_MS });
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
          onChange={(value) =>
            void navigate({
              search: { status: value === 'all' ? undefined : (value as AlertsQuery['status']) },
              replace: isChoosingByKey(),
            })
          }
        />
      }
      query={query}
      things="alerts"
      skeleton
      empty={
        isEmpty && {
          icon: BellRing,
          title: status === 'triggered' ? 'No open alerts' : 'No alerts yet',
          text: 'Rules check spend, forecasts and failures every minute, and notify you by e-mail or webhook when a limit is reached.',
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
          <AlertCard key={alert.id} alert={alert} keyNames={keyNames} brief={alert.status === 'acknowledged'} />
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
