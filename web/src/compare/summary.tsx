import { Group, Stack, Text } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { formatMoney } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { formatPeriod } from '../format/time.ts';
import { Change } from '../overview/tiles.tsx';
import classes from './compare.module.css';

const effects = [
  {
    name: 'volumeNanoUsd',
    label: 'Volume',
    what: 'More or fewer tokens, of the same models at the same cost for a token.',
  },
  { name: 'mixNanoUsd', label: 'Mix', what: 'Another share of each model, new and vanished models included.' },
  {
    name: 'priceNanoUsd',
    label: 'Price',
    what: 'A token of the same model costs more or less: rates, and the share of output and of cached tokens.',
  },
] as const;

/** A change as a part of the largest one. */
export const Bar = ({ nano, most }: { readonly nano: number; readonly most: number }) => (
  <span className={classes['bar']} data-less={nano < 0 || undefined} aria-hidden="true">
    <span style={{ width: `${(Math.abs(nano) / most) * 50}%` }} />
  </span>
);

const Effects = ({ of }: { readonly of: NonNullable<SpendChange['effects']> }) => {
  const most = Math.max(...effects.map(({ name }) => Math.abs(of[name])), 1);
  return (
    <dl className={classes['effects']}>
      {effects.map(({ name, label, what }) => (
        <div key={name}>
          <Stack component="dt" gap={0}>
            <strong>{label}</strong>
            <span className="dim small">{what}</span>
          </Stack>
          <dd>
            <Bar nano={of[name]} most={most} />
            <Money as="change" nano={of[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/** Requests of both periods that no figure includes. */
const Missing = ({ change: { totals, before, ...now } }: { readonly change: SpendChange }) => {
  const lines = [
    totals.unpricedRequests + totals.unpricedRequestsBefore > 0 &&
      `The cost of ${plural(totals.unpricedRequests, 'request')} is unknown, and that of ${plural(totals.unpricedRequestsBefore, 'request')} before. No figure includes them.`,
    now.untrackedRequests + before.untrackedRequests > 0 &&
      `Up to ${plural(now.untrackedRequests, 'request')} went untracked, and ${plural(before.untrackedRequests, 'request')} before. No figure includes them; filters do not apply.`,
    (now.mayAlsoMatch || before.mayAlsoMatch) &&
      `Up to ${formatMoney(now.mayAlsoMatch?.costNanoUsd ?? 0)} more may match the filter, and ${formatMoney(before.mayAlsoMatch?.costNanoUsd ?? 0)} before.`,
    !now.isComplete && 'Names that are too many to list each, or not known, are under (other) and "not known".',
  ].filter((line) => typeof line === 'string');
  return lines.map((line) => (
    <p key={line} className="unknown small">
      {line}
    </p>
  ));
};

/** The change of the total, and its three parts. */
export const Summary = ({ change }: { readonly change: SpendChange }) => {
  const { totals, before } = change;
  return (
    <section className="card card-pad" aria-labelledby="change">
      <h2 id="change" className="label">
        {formatPeriod(change.from, change.to)} against {formatPeriod(before.from, before.to)}
      </h2>
      <Group align="baseline" gap="4px 14px" mt={4} mb={14}>
        <Text span fz={26} fw={640} lts="-0.02em">
          <Money as="change" nano={totals.costChangeNanoUsd} />
        </Text>
        <span className="dim small">
          <Change now={totals.costNanoUsd} before={totals.costBeforeNanoUsd} /> from{' '}
          <Money nano={totals.costBeforeNanoUsd} /> to <Money nano={totals.costNanoUsd} />
        </span>
      </Group>
      {change.effects && <Effects of={change.effects} />}
      <Missing change={change} />
    </section>
  );
};
