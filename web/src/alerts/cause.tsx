import { Group, SegmentedControl, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { roundUp } from '../../../lambda/domain/calendar/utc.ts';
import type { Alert, RequestSummary, SessionSummary } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { sessionCost } from '../client-sessions/sessions.tsx';
import { ChangedGroups, Summary } from '../compare/change.tsx';
import { Cost, Count, Instant } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { ButtonLink, Loaded, LoadProblem, PageActions, TextLink } from '../components/page.tsx';
import { actions, type Column, Name, Table } from '../components/table.tsx';
import { collectionOf, typeOf } from '../limits/limit-form.ts';
import { PauseButton } from '../limits/pause-button.tsx';
import { pauseStartOf } from '../limits/pause-form.ts';
import { useLimits } from '../limits/use-limits.ts';
import { requestsSearch } from '../requests/search.ts';
import {
  canGroupBy,
  type Dimension,
  dimensionName,
  type Filters,
  firstOfEach,
  limitFiltersOf,
  parametersOf,
  picked,
} from '../spend/filters.ts';
import { sessionOf, useAlertFilters } from './alert-card.tsx';

const SHOWN = 5;

const dimensions = ['model', 'tag', 'key', 'member'] as const satisfies readonly Dimension[];

const requestColumns: readonly Column<RequestSummary>[] = [
  {
    head: 'Costliest requests',
    cell: ({ requestId, model, path }) => (
      <TextLink to="/requests/$requestId" params={{ requestId }}>
        <Name of={model ?? path} />
      </TextLink>
    ),
  },
  { head: 'Time', className: 'wide-only', cell: ({ startedAt }) => <Instant iso={startedAt} /> },
  { head: 'Tag', className: 'wide-only', cell: ({ tag }) => tag ?? <span className="dim">untagged</span> },
  { head: 'Cost', className: 'right', cell: (request) => <Cost as="call" of={request} /> },
];

const sessionColumns: readonly Column<SessionSummary>[] = [
  {
    head: 'Costliest sessions of these days',
    cell: ({ id }) => (
      <TextLink to="/sessions/$sessionId" params={{ sessionId: id }}>
        <Name of={id} className="mono" />
      </TextLink>
    ),
  },
  { head: 'Requests', className: 'right wide-only', cell: ({ requests }) => <Count of={requests} unit="requests" /> },
  sessionCost,
  actions('rules:write', ({ id }) => (
    <PauseButton isSmall label={`Pause session ${id}`} start={{ session: id, name: 'Costly session' }} />
  )),
];

interface PartProps {
  readonly alert: Alert;
  readonly filters: Filters;
}

/** Brakes, each one click away: a form that begins with what the alert is about, and shows what it would have done. */
const Brakes = ({ alert, filters }: PartProps) => {
  const { may } = useMe();
  const limit = useLimits().data?.items.find(({ id }) => id === alert.ruleId);
  const api = useApi();
  const mute = api.useMutation(
    'patch',
    `${collectionOf({ type: limit ? typeOf(limit) : 'cost_threshold' })}/{id}` as '/budgets/{id}',
    {
      meta: {
        done: `${alert.ruleName} is off. Switch it on again under Limits.`,
        failure: 'It was not switched off',
      },
    },
  );
  const session = sessionOf(alert);
  const { data: sent } = api.useQuery('get', '/alerts', { params: { query: { limit: 100 } } });
  if (!may('rules:write')) return null;
  const top = alert.contributors.toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0));
  const topOf = (name: string) => top.find(({ dimension }) => dimension === name)?.value;
  const values = firstOfEach(filters) as Record<string, string | undefined>;
  const start = session ? { session } : pauseStartOf(filters, topOf('key'));
  const model = values['model'] ?? topOf('model');
  const own = sent?.items.filter(({ ruleId }) => ruleId === alert.ruleId);
  return (
    <PageActions>
      <PauseButton label="Pause" start={{ ...start, name: alert.ruleName.slice(0, 100) }} />
      <ButtonLink size="xs" variant="default" to="/limits/new" search={{ ...limitFiltersOf(filters), type: 'budget' }}>
        Limit
      </ButtonLink>
      {model && may('prices:write') && (
        <ButtonLink size="xs" variant="default" to="/prices" search={{ model, provider: values['provider'] }}>
          Price
        </ButtonLink>
      )}
      {limit?.isActive && (
        <ActButton
          size="xs"
          variant="default"
          label="Mute"
          act={mute}
          sent={{ params: { path: { id: limit.id } }, body: { isActive: false } }}
          ask={{
            title: `Mute ${alert.ruleName}?`,
            text: `It is switched off until somebody switches it on under Limits.${own ? ` Of the last 100 alerts, ${own.length} were its own.` : ''}`,
            action: 'Mute',
          }}
        />
      )}
    </PageActions>
  );
};

/** The period of an alert up to now, in whole hours. */
const periodOf = ({ period: { start, end } }: Alert) => ({
  from: start,
  to: new Date(Math.min(Date.parse(end), roundUp('hour', new Date()).getTime())).toISOString(),
});

const Evidence = ({ alert, filters }: PartProps) => {
  const api = useApi();
  const navigate = useNavigate();
  const [by, setBy] = useState<(typeof dimensions)[number]>('model');
  const session = sessionOf(alert);
  const { from, to } = periodOf(alert);
  const compared = { from, to: alert.period.end };
  const change = api.useQuery(
    'get',
    '/spend/compare',
    { params: { query: { ...compared, groupBy: [by], limit: 20, ...parametersOf(filters) } } },
    { enabled: session === undefined },
  );
  const requests = api.useQuery('get', '/requests', {
    params: {
      query: { ...requestsSearch({ ...firstOfEach(filters), session }), from, to, orderBy: 'cost', limit: SHOWN },
    },
  });
  const days = { from: dayIn('UTC', new Date(from)), to: dayIn('UTC', new Date(Date.parse(to) - 1)) };
  const sessions = api.useQuery('get', '/sessions', { params: { query: { ...days, orderBy: 'cost', limit: SHOWN } } });
  return (
    <>
      {session === undefined && (
        <>
          <Group justify="space-between">
            <h2 className="section-title">What changed against the period before</h2>
            <SegmentedControl
              size="xs"
              aria-label="By"
              data={dimensions
                .filter((value) => canGroupBy([value], filters))
                .map((value) => ({ value, label: dimensionName(value) }))}
              value={by}
              onChange={(value) => setBy(value as typeof by)}
            />
          </Group>
          <Loaded query={change} title="The periods could not be compared" height={220}>
            {(data) => (
              <>
                <Summary change={data} zone="UTC" />
                <ChangedGroups
                  change={data}
                  by={[by]}
                  onPick={(values) =>
                    void navigate({
                      to: '/compare',
                      search: { ...compared, ...filters, ...picked(values, [by], filters) },
                    })
                  }
                />
              </>
            )}
          </Loaded>
        </>
      )}
      <Table
        label="Costliest requests"
        columns={requestColumns}
        query={requests}
        keyOf={({ requestId }) => requestId}
      />
      <LoadProblem query={requests} title="The requests could not be loaded" />
      {sessions.data && sessions.data.items.length > 0 && (
        <Table label="Costliest sessions" columns={sessionColumns} items={sessions.data.items} />
      )}
      <LoadProblem query={sessions} title="The sessions could not be loaded" />
    </>
  );
};

/** Behind an alert about cost: what changed, the requests and sessions that cost most, and what stops it. */
export const Cause = ({ alert }: { readonly alert: Alert }) => {
  const filters = useAlertFilters(alert);
  const limits = useLimits();
  if (!filters) return <LoadProblem query={limits} title="The limit of this alert could not be loaded" />;
  return (
    <Stack gap={20}>
      <Brakes alert={alert} filters={filters} />
      {alert.unit === 'nanoUsd' && <Evidence alert={alert} filters={filters} />}
    </Stack>
  );
};
