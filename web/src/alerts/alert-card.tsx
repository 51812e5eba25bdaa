import { Box, Group, Progress, Text } from '@mantine/core';
import { Check, CircleAlert, CircleDot, Clock, Mail, Webhook } from 'lucide-react';
import { queryOf } from '../../../lambda/domain/calendar/range.ts';
import { startOfNext } from '../../../lambda/domain/calendar/utc.ts';
import { knownCost } from '../../../lambda/domain/spend/known-cost.ts';
import type { Alert, FinalFigure } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money, useMayMatch, WithAmounts } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { AnchorLink } from '../components/page.tsx';
import { Name } from '../components/table.tsx';
import { formatShare, plural } from '../format/numbers.ts';
import { formatBucket, formatBucketLong } from '../format/time.ts';
import { channelNames } from '../limits/channels.ts';
import { filterOf } from '../limits/limit-form.ts';
import { formatFigure, limitTypes } from '../limits/limit-types.ts';
import { useLimits } from '../limits/use-limits.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import { dimensionWord, type Filters } from '../spend/filters.ts';
import { valueName } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './alerts.module.css';

/** An alert comes from a rule, a budget, or the plan's limit. */
const alertTypeName = (type: Alert['type']): string => (type === 'plan_usage' ? 'Plan usage' : limitTypes[type].name);

/** The period of an alert in words; days, weeks and months are in UTC. */
const periodText = ({ name, start }: Alert['period']): string => {
  if (name === 'hourly') return formatBucketLong(start.slice(0, 13));
  if (name === 'daily') return formatBucketLong(start.slice(0, 10));
  if (name === 'fixed') return `${formatBucketLong(start.slice(0, 10))} on`;
  if (name === 'monthly') return formatBucketLong(start.slice(0, 7));
  return `Week from ${formatBucket(start.slice(0, 10))} (UTC)`;
};

/** The session that an alert is about. Spend has no dimension for sessions. */
export const sessionOf = ({ of }: Alert): string | undefined => (of?.dimension === 'session' ? of.value : undefined);

/** The filter of an alert's limit and the value that it is about, as the overview has them; undefined until the limit is known. */
export const useAlertFilters = (alert: Alert): Filters | undefined => {
  const { ruleId, of } = alert;
  const limit = useLimits().data?.items.find(({ id }) => id === ruleId);
  if (ruleId !== null && !limit) return undefined;
  return {
    ...(limit && spendFiltersOf(filterOf(limit))),
    ...(of && !sessionOf(alert) && { [of.dimension]: [of.value] }),
  };
};

/** Opens the overview at the period of an alert, with its filter. Nothing where the rule is gone. */
const AlertSpend = ({ alert }: { readonly alert: Alert }) => {
  const filters = useAlertFilters(alert);
  if (!filters) return null;
  const { start, end } = alert.period;
  const last = Math.min(Date.parse(end), startOfNext('day', new Date()).getTime());
  const period = queryOf({ from: start, to: new Date(last).toISOString() });
  return (
    <AnchorLink size="xs" to="/" search={{ ...filters, range: 'custom', ...period }}>
      View its spend
    </AnchorLink>
  );
};

type Delivery = Alert['deliveries'][number];

const undeliveredText = ({ status, attempts, error }: Delivery): string => {
  const tried = attempts === 0 ? 'not tried yet' : `tried ${plural(attempts, 'time')}`;
  return `${status === 'failed' ? 'failed' : 'pending'}, ${tried}${error ? `: ${error}` : ''}`;
};

const DeliveryNote = ({ delivery, alert }: { readonly delivery: Delivery; readonly alert: Alert }) => {
  const isOver =
    delivery.channel === 'pagerduty' && alert.acknowledgedAt && `${delivery.sentAt}` >= alert.acknowledgedAt;
  const Channel = delivery.channel === 'email' ? Mail : Webhook;
  const State = { sent: Check, pending: Clock, failed: CircleAlert }[delivery.status];
  return (
    <Group component="li" gap={6} fz={12.5} c={delivery.status === 'failed' ? 'var(--bad)' : 'dimmed'}>
      <Channel size={14} aria-hidden />
      <span>{channelNames[delivery.channel]}</span>
      <State size={14} color={delivery.status === 'sent' ? 'var(--good)' : 'currentColor'} aria-hidden />
      <span>
        {delivery.status === 'sent' ? (
          <>
            {isOver ? 'resolved' : 'sent'} {delivery.sentAt && <Instant iso={delivery.sentAt} />}
            {delivery.error && `, ${delivery.error}`}
          </>
        ) : (
          undeliveredText(delivery)
        )}
      </span>
    </Group>
  );
};

const Gauge = ({ alert }: { readonly alert: Alert }) => {
  const scale = Math.max(alert.figure, alert.limit) || 1;
  return (
    <div className={`painted ${classes['gauge']}`} aria-hidden="true">
      <Progress
        value={(alert.figure / scale) * 100}
        color={alert.status === 'triggered' ? 'var(--bad)' : 'var(--line-strong)'}
      />
      <span className={classes['limit']} style={{ left: `${(alert.limit / scale) * 100}%` }} />
    </div>
  );
};

interface FigureProps {
  readonly alert: Pick<Alert, 'unit'>;
  readonly amount: number;
  /** Requests whose cost is not in it. */
  readonly unpriced?: number;
  readonly isForecast?: boolean;
}

/** The figure of an alert, or its limit, in its unit. */
const Figure = ({ alert: { unit }, amount, unpriced = 0, isForecast = false }: FigureProps) =>
  unit === 'nanoUsd' ? (
    <>
      {isForecast && '≈ '}
      <Money nano={knownCost(amount, unpriced)} as={isForecast ? 'rough' : 'sum'} />
    </>
  ) : (
    formatFigure(unit, amount)
  );

/** The figure when the period was over. */
const Final = ({ alert, final }: { readonly alert: Alert; readonly final: FinalFigure | null }) =>
  final && (
    <p className="small">
      In the end it was{' '}
      <strong className="num">
        <Figure alert={alert} amount={final.figure} unpriced={final.unpricedRequests} />
      </strong>
      {alert.unit === 'nanoUsd' && final.unpricedRequests > 0 && (
        <span className="unknown"> and {plural(final.unpricedRequests, 'request')} of unknown cost</span>
      )}
      .
    </p>
  );

const Explanation = ({ alert, final }: Required<Pick<AlertCardProps, 'alert' | 'final'>>) => {
  const keyNames = useKeyNames();
  const mayMatch = useMayMatch();
  return (
    <>
      <Text component="p" c="dimmed" fz="sm" maw="80ch" style={{ overflowWrap: 'anywhere' }}>
        <WithAmounts text={alert.summary} />
      </Text>
      {alert.unit === 'nanoUsd' && alert.unpricedRequests > 0 && (
        <p className="unknown small">
          The cost of {plural(alert.unpricedRequests, 'more request')} in this period is unknown and not included here.
        </p>
      )}
      <Final alert={alert} final={final} />
      {alert.mayAlsoMatch && (
        <p className="unknown small">
          Up to {mayMatch(alert.mayAlsoMatch)} may match the rule’s filter: they were counted under (other), or have no
          known value, from before the rule or the dimension.
        </p>
      )}
      {alert.contributors.length > 0 && (
        <Box mt={14} className="columns" __vars={{ '--columns': 'repeat(auto-fit, minmax(min(190px, 100%), 1fr))' }}>
          {[...Map.groupBy(alert.contributors, ({ dimension }) => dimension)].map(([dimension, contributors]) => (
            <Box component="dl" key={dimension} fz={13}>
              <dt className="label">By {dimensionWord(dimension)}</dt>
              {contributors.map(({ value, share }) => (
                <Group component="dd" key={value} justify="space-between" align="baseline" wrap="nowrap" gap={10}>
                  <Name of={valueName(dimension, value, keyNames)} />
                  <span className="num dim">{formatShare(share)}</span>
                </Group>
              ))}
            </Box>
          ))}
        </Box>
      )}
      <Group justify="space-between" gap="8px 16px" mt={14} pt={10} style={{ borderTop: '1px solid var(--line)' }}>
        <Group component="ul" aria-label="Deliveries" gap="4px 20px" m={0} p={0}>
          {alert.deliveries.map((delivery) => (
            <DeliveryNote key={delivery.channel} delivery={delivery} alert={alert} />
          ))}
        </Group>
        <Group gap={16}>
          <AlertSpend alert={alert} />
          {alert.ruleId && (
            <AnchorLink size="xs" to="/limits/$limitId" params={{ limitId: alert.ruleId }}>
              View the {alert.type === 'budget' ? 'budget' : 'rule'}
            </AnchorLink>
          )}
        </Group>
      </Group>
    </>
  );
};

interface AlertCardProps {
  readonly alert: Alert;
  /** The figure of the period, once it is over. */
  readonly final?: FinalFigure | null;
  /** Only the figures, as for acknowledged alerts; the alert's page has the rest. */
  readonly brief?: boolean;
  /** On the page of the alert, which needs no link to itself. */
  readonly isPage?: boolean;
}

export const AlertCard = ({ alert, final = null, brief = false, isPage = false }: AlertCardProps) => {
  const acknowledge = useApi().useMutation('patch', '/alerts/{id}/acknowledge', {
    meta: { done: 'Acknowledged.', failure: 'Not acknowledged' },
  });
  const isOpen = alert.status === 'triggered';
  return (
    <article className="card card-pad" aria-label={alert.ruleName}>
      <Group justify="space-between" align="flex-start" gap="8px 16px">
        <Box miw={0}>
          <h2 className="section-title">
            {isOpen && <CircleDot size={13} color="var(--bad)" role="img" aria-label="Open" />}{' '}
            {isPage ? (
              alert.ruleName
            ) : (
              <AnchorLink to="/alerts/$alertId" params={{ alertId: alert.id }} inherit c="inherit">
                {alert.ruleName}
              </AnchorLink>
            )}
          </h2>
          <p className="dim small">
            {alertTypeName(alert.type)} · {periodText(alert.period)} · fired <Instant iso={alert.triggeredAt} ago />
          </p>
        </Box>
        {isOpen ? (
          <ActButton
            needs="rules:write"
            size="xs"
            variant="light"
            leftSection={<Check size={14} />}
            label="Acknowledge"
            aria-label={`Acknowledge ${alert.ruleName}, ${periodText(alert.period)}`}
            act={acknowledge}
            sent={{ params: { path: { id: alert.id } } }}
          />
        ) : (
          <Group gap={6} c="var(--good)" fz={13}>
            <Check size={14} aria-hidden /> Acknowledged{' '}
            {alert.acknowledgedAt && <Instant iso={alert.acknowledgedAt} ago />}
          </Group>
        )}
      </Group>
      <Group gap={14} mt={12} mb={6}>
        <Text span className="num" miw={104} fz={isOpen ? 20 : 17} fw={640}>
          <Figure
            alert={alert}
            amount={alert.figure}
            unpriced={alert.unpricedRequests}
            isForecast={alert.event === 'forecast'}
          />
        </Text>
        <Gauge alert={alert} />
        <span className="dim small num">
          limit <Figure alert={alert} amount={alert.limit} />, when it fired
        </span>
      </Group>
      {brief ? <Final alert={alert} final={final} /> : <Explanation alert={alert} final={final} />}
    </article>
  );
};
