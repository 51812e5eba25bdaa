import { Alert, Badge, Box, Button, Group, Progress, Skeleton, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Check, ExternalLink } from 'lucide-react';
import { type PlanName, plans } from '../../../lambda/domain/billing/plans.ts';
import type { BillingStatus, PlanPriceItem } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { Loaded, LoadProblem, Page } from '../components/page.tsx';
import { formatCompact, formatPrice, formatShare, formatWhole, plural } from '../format/numbers.ts';
import { capital } from '../forms/collections.ts';

/** `Free`: a plan as people read it. */
const titleOf = (plan: PlanName): string => capital(plan.toLowerCase());

const planList = (Object.keys(plans) as PlanName[]).map((name) => ({ name, title: titleOf(name), ...plans[name] }));

/** Meaning of a subscription's status for the account; null where there is nothing to report. */
const statusNotes: Readonly<Record<BillingStatus['billingStatus'], string | null>> = {
  ACTIVE: null,
  TRIALING: 'A trial is running.',
  PAST_DUE: 'The last payment failed and will be retried. Check your payment details.',
  UNPAID: 'The plan is not paid: proxy requests are rejected until it is.',
  CANCELED: 'Your paid plan has ended.',
  INCOMPLETE: 'The first payment has not gone through yet.',
  PAUSED: 'The subscription is paused.',
};

/** `$29 a month`, `€87 every 3 months`; where no amount is known, who shows it. An account may pay an earlier price of its own plan. */
const priceText = (name: PlanName, item: PlanPriceItem | undefined, isCurrent: boolean): string => {
  if (name === 'FREE') return 'No charge';
  if (item?.isSold === false) return isCurrent ? 'Not sold any more' : 'Not sold here';
  if (!item?.price) return isCurrent ? 'Your invoices show the price' : 'The checkout shows the price';
  const { amount, currency, interval, intervalCount } = item.price;
  const each = intervalCount === 1 ? `a ${interval}` : `every ${intervalCount} ${interval}s`;
  return `${formatPrice(amount, currency)} ${each}`;
};

/** Reload interval after a checkout: the plan may take some seconds to change. */
const AFTER_CHECKOUT_MS = 3_000;
/** The API's prices are as old. */
const PRICES_MS = 600_000;
/** Share of a limit at which the account's users get an e-mail. */
const NEAR_LIMIT = 0.8;

interface MeterProps {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly unit: string;
}

const Meter = ({ name, used, limit, unit }: MeterProps) => {
  const share = used / limit;
  const tone = share >= 1 ? 'red' : share >= NEAR_LIMIT ? 'yellow' : 'teal';
  return (
    <div>
      <Group justify="space-between">
        <span className="label">{name}</span>
        <span className="num dim small">{formatShare(share)}</span>
      </Group>
      <Group align="baseline" gap={8} mb={10} fz="sm">
        <Text span className="num" fz={26} fw={640} title={formatWhole(used)}>
          {formatCompact(used)}
        </Text>
        <span className="dim">
          of {formatCompact(limit)} {unit}
        </span>
      </Group>
      <Progress
        value={Math.min(100, share * 100)}
        color={tone}
        size="md"
        aria-label={`${name}: ${formatWhole(used)} of ${formatWhole(limit)}`}
      />
    </div>
  );
};

const openPaymentPage = ({ url }: { readonly url: string }) => location.assign(url);

const usePortal = () =>
  useApi().useMutation('post', '/billing/portal', {
    onSuccess: openPaymentPage,
    meta: { failure: 'The portal did not open' },
  });

const Plans = ({ current, activeKeys }: { readonly current: PlanName; readonly activeKeys: number }) => {
  const api = useApi();
  const { may } = useMe();
  const query = api.useQuery('get', '/billing/prices', {}, { staleTime: PRICES_MS });
  const { data: prices, error } = query;
  const checkout = api.useMutation('post', '/billing/checkout', {
    onSuccess: openPaymentPage,
    meta: { failure: 'The checkout did not open' },
  });
  const portal = usePortal();
  const choose = (plan: PlanName) => (plan === 'FREE' ? portal.mutate({}) : checkout.mutate({ body: { plan } }));
  const busyWith = checkout.isPending ? checkout.variables.body.plan : portal.isPending ? 'FREE' : undefined;
  const position = planList.findIndex(({ name }) => name === current);
  return (
    <section aria-labelledby="plans">
      <Box component="h2" id="plans" className="section-title" mb={12}>
        Plans
      </Box>
      <LoadProblem query={query} title="The prices could not be loaded" />
      <Box
        className="columns"
        __vars={{ '--columns': 'repeat(auto-fit, minmax(min(220px, 100%), 1fr))' }}
        style={{ alignItems: 'stretch' }}
      >
        {planList.map(({ name, title, trackedRequests, keys, requestRetentionDays }, index) => {
          const item = prices?.items.find(({ plan }) => plan === name);
          const isCurrent = name === current;
          return (
            <Stack
              component="article"
              key={name}
              gap={12}
              p={18}
              className="card"
              style={isCurrent ? { borderColor: 'var(--accent)' } : {}}
            >
              <Group justify="space-between">
                <Text component="h3" fw={640}>
                  {title}
                </Text>
                {isCurrent && <Badge>Your plan</Badge>}
              </Group>
              <Text component="div" fw={560}>
                {prices || error || name === 'FREE' ? (
                  <>
                    {priceText(name, item, isCurrent)}
                    {isCurrent && item?.isSold && item.price && <span className="dim small"> if bought now</span>}
                  </>
                ) : (
                  <Skeleton height={21} width={110} />
                )}
              </Text>
              <Stack gap={8} flex={1} fz="sm">
                {[
                  `${formatCompact(trackedRequests)} requests a month`,
                  plural(keys, 'service key'),
                  `${plural(requestRetentionDays, 'day')} of request log`,
                ].map((promise) => (
                  <Group key={promise} gap={8} wrap="nowrap">
                    <Check size={15} color="var(--accent)" aria-hidden /> {promise}
                  </Group>
                ))}
                {index < position && keys < activeKeys && (
                  <span className="dim">
                    Your {plural(activeKeys, 'active key')} go on working; a new one needs fewer than {keys}.
                  </span>
                )}
              </Stack>
              {!isCurrent && item?.isSold !== false && may('billing:write') && (
                <Button
                  variant={index > position ? 'filled' : 'default'}
                  size="xs"
                  loading={busyWith === name}
                  onClick={() => choose(name)}
                  rightSection={<ExternalLink size={14} />}
                >
                  {name === 'FREE' ? 'Cancel the plan' : `${index > position ? 'Upgrade' : 'Change'} to ${title}`}
                </Button>
              )}
            </Stack>
          );
        })}
      </Box>
      <p className="dim small">
        No request is rejected above a limit; you get an e-mail at 80% and at 100%. Spend totals stay on every plan, and
        so do members, projects and tokens; requests on record stay as long as the plan that they were made on says.
        Taxes may come on top: the payment page shows the total before you pay.
      </p>
    </section>
  );
};

const boughtText = (chosen: PlanName | undefined, current: PlanName, isBought: boolean) =>
  isBought ? `You are on the ${titleOf(current)} plan` : chosen && `Thank you for choosing the ${titleOf(chosen)} plan`;

export const Billing = () => {
  const { checkout, plan } = getRouteApi('/members/billing').useSearch();
  const api = useApi();
  const isBought = (current: PlanName | undefined) => (plan === undefined ? current !== 'FREE' : current === plan);
  const query = api.useQuery(
    'get',
    '/billing/status',
    {},
    {
      refetchInterval: ({ state }) =>
        checkout === 'completed' && !isBought(state.data?.plan) ? AFTER_CHECKOUT_MS : false,
    },
  );
  const { data } = query;
  const portal = usePortal();
  const note = data && statusNotes[data.billingStatus];
  return (
    <Page
      title="Billing"
      about="How much of its plan this account uses. What your providers charge is not part of the plan."
      actions={
        data &&
        data.plan !== 'FREE' && (
          <ActButton
            needs="billing:write"
            variant="default"
            size="xs"
            rightSection={<ExternalLink size={14} />}
            label="Cards, invoices, cancellation"
            act={portal}
            sent={{}}
          />
        )
      }
    >
      {checkout === 'completed' && data && (
        <Alert role="status" color="teal" title={boughtText(plan, data.plan, isBought(data.plan))}>
          {isBought(data.plan)
            ? 'Thank you. The invoice is under “Cards, invoices, cancellation”.'
            : 'The payment is being confirmed; your plan changes within seconds, or at the end of the period where you chose that.'}
        </Alert>
      )}
      {checkout === 'cancelled' && (
        <Alert role="status" color="gray">
          Nothing was bought.
        </Alert>
      )}
      {note && (
        <Alert role="status" color={data.billingStatus === 'TRIALING' ? 'teal' : 'yellow'}>
          {note}
        </Alert>
      )}
      <Loaded query={query} title="The billing status could not be loaded" height={150}>
        {({ plan: current, usage, currentPeriodEnd }) => (
          <>
            <section className="card card-pad" aria-label="Usage">
              <Box className="columns" __vars={{ '--columns': 'repeat(auto-fit, minmax(min(300px, 100%), 1fr))' }}>
                <Meter
                  name="Tracked requests this period"
                  used={usage.trackedRequests}
                  limit={usage.limit}
                  unit="requests"
                />
                <Meter name="Service keys" used={usage.keys} limit={usage.keyLimit} unit="keys" />
              </Box>
              <Box mt={20} className="dim small">
                {titleOf(current)} plan. The period ends <Instant iso={currentPeriodEnd} />.
              </Box>
            </section>
            <Plans current={current} activeKeys={usage.keys} />
          </>
        )}
      </Loaded>
    </Page>
  );
};
