import { Alert, Badge, Button, Progress, Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Check, ExternalLink } from 'lucide-react';
import type { PlanName } from '../../../lambda/domain/billing/plans.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Heading } from '../components/heading.tsx';
import { notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { formatCompact, formatShare, formatWhole, plural } from '../format/quantity.ts';
import classes from './billing.module.css';
import { planList, planTitles, stateNotes } from './plans.ts';

/** After a checkout the plan may take some seconds to change. */
const SOON_MS = 3_000;
/** Where the account's users are mailed. */
const NEAR = 0.8;

const Meter = ({
  name,
  used,
  limit,
  unit,
}: {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly unit: string;
}) => {
  const share = used / limit;
  const tone = share >= 1 ? 'red' : share >= NEAR ? 'yellow' : 'teal';
  return (
    <div className={classes['meter']}>
      <div className={classes['meter-head']}>
        <span className="label">{name}</span>
        <span className="num dim small">{formatShare(share)}</span>
      </div>
      <div className={classes['used']}>
        <strong className="num" title={formatWhole(used)}>
          {formatCompact(used)}
        </strong>
        <span className="dim">
          of {formatCompact(limit)} {unit}
        </span>
      </div>
      <Progress
        value={Math.min(100, share * 100)}
        color={tone}
        size="md"
        aria-label={`${name}: ${formatWhole(used)} of ${formatWhole(limit)}`}
      />
    </div>
  );
};

/** Leaves for a page of the payment processor. */
const leaveFor = ({ url }: { readonly url: string }) => location.assign(url);

const Plans = ({ current }: { readonly current: PlanName }) => {
  const api = useApi();
  const checkout = api.useMutation('post', '/billing/checkout', {
    onSuccess: leaveFor,
    onError: notifyProblem('The checkout did not open'),
  });
  const portal = api.useMutation('post', '/billing/portal', {
    onSuccess: leaveFor,
    onError: notifyProblem('The portal did not open'),
  });
  const choose = (plan: PlanName) => (plan === 'FREE' ? portal.mutate({}) : checkout.mutate({ body: { plan } }));
  const busyWith = checkout.isPending ? checkout.variables.body.plan : portal.isPending ? 'FREE' : undefined;
  const position = planList.findIndex(({ name }) => name === current);
  return (
    <section aria-labelledby="plans">
      <h2 id="plans" className={`section-title ${classes['title']}`}>
        Plans
      </h2>
      <div className={classes['plans']}>
        {planList.map(({ name, title, trackedRequests, keys, requestRetentionDays }, index) => (
          <article key={name} className={`card ${classes['plan']}`} data-current={name === current || undefined}>
            <div className={classes['plan-head']}>
              <h3>{title}</h3>
              {name === current && (
                <Badge variant="light" tt="none">
                  Your plan
                </Badge>
              )}
            </div>
            <ul>
              <li>
                <Check size={15} aria-hidden />
                <span>
                  <strong>{formatCompact(trackedRequests)}</strong> requests a month
                </span>
              </li>
              <li>
                <Check size={15} aria-hidden />
                <span>{plural(keys, 'service key')}</span>
              </li>
              <li>
                <Check size={15} aria-hidden />
                <span>{plural(requestRetentionDays, 'day')} of request log</span>
              </li>
            </ul>
            {name !== current && (
              <Button
                variant={index > position ? 'filled' : 'default'}
                size="xs"
                loading={busyWith === name}
                onClick={() => choose(name)}
                rightSection={<ExternalLink size={14} />}
              >
                {name === 'FREE' ? 'Cancel the plan' : index > position ? `Upgrade to ${title}` : `Change to ${title}`}
              </Button>
            )}
          </article>
        ))}
      </div>
      <p className={`dim small ${classes['note']}`}>
        Past a limit nothing is rejected: traffic flows on, and you are told at 80% and at 100%. Sums of spend are kept
        whatever the plan; its price is on the payment page, before you pay.
      </p>
    </section>
  );
};

export const Billing = () => {
  const { checkout } = getRouteApi('/members/billing').useSearch();
  const api = useApi();
  const { data, error, refetch } = api.useQuery(
    'get',
    '/billing/status',
    {},
    { refetchInterval: checkout === 'completed' ? SOON_MS : false },
  );
  const portal = api.useMutation('post', '/billing/portal', {
    onSuccess: leaveFor,
    onError: notifyProblem('The portal did not open'),
  });
  const note = data && stateNotes[data.billingStatus];
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Billing</Heading>
          <p>What this account uses of its plan. What your providers charge is theirs, and not part of it.</p>
        </div>
        {data && data.plan !== 'FREE' && (
          <Button
            variant="default"
            size="xs"
            loading={portal.isPending}
            onClick={() => portal.mutate({})}
            rightSection={<ExternalLink size={14} />}
          >
            Cards, invoices, cancellation
          </Button>
        )}
      </div>
      {checkout === 'completed' && data?.plan === 'FREE' && (
        <Alert role="status" color="teal" variant="light">
          Thank you. The payment is being confirmed; the plan changes within seconds.
        </Alert>
      )}
      {checkout === 'cancelled' && (
        <Alert role="status" color="gray" variant="light">
          Nothing was bought.
        </Alert>
      )}
      {note && (
        <Alert role="status" color={data.billingStatus === 'TRIALING' ? 'teal' : 'yellow'} variant="light">
          {note}
        </Alert>
      )}
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The billing status could not be read" />}
      {!data && !error && <Skeleton height={150} radius="lg" />}
      {data && (
        <>
          <section className={`card card-pad ${classes['usage']}`} aria-label="Usage">
            <Meter
              name="Tracked requests this period"
              used={data.usage.trackedRequests}
              limit={data.usage.limit}
              unit="requests"
            />
            <Meter name="Service keys" used={data.usage.keys} limit={data.usage.keyLimit} unit="keys" />
            <p className="dim small">
              {planTitles[data.plan]} plan. The period ends <Instant iso={data.currentPeriodEnd} />.
            </p>
          </section>
          <Plans current={data.plan} />
        </>
      )}
    </div>
  );
};
