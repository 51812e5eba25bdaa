import { Group, Stack, Text } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money, useMayMatch } from '../components/amount.tsx';
import { plural } from '../format/quantity.ts';
import { formatPeriod } from '../format/time.ts';
import { Change, shownCosts } from '../spend/change.tsx';
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

const CENT = 1e7;

/** Parts of a sum in whole cents, which add up to the sum in whole cents: the largest takes what rounding leaves. */
const inCents = (parts: readonly number[], sum: number): readonly number[] => {
  const rounded = parts.map((part) => Math.round(part / CENT));
  const left = Math.round(sum / CENT) - rounded.reduce((total, part) => total + part, 0);
  const largest = parts.reduce((best, part, index) => (Math.abs(part) > Math.abs(parts[best] ?? 0) ? index : best), 0);
  return rounded.map((part, index) => (index === largest ? part + left : part) * CENT);
};

/** The three effects, and where the exchange rate changed what that did. */
const Effects = ({
  of,
  change,
}: {
  readonly of: NonNullable<SpendChange['effects']>;
  readonly change: SpendChange;
}) => {
  const { totals, displayCurrency } = change;
  const shown = shownCosts(totals, displayCurrency);
  const isShown = shown.change?.decimal != null && shown.now?.decimal != null && totals.costNanoUsd !== null;
  const rate = isShown && totals.costNanoUsd ? (Number(shown.now?.decimal) * 1e9) / totals.costNanoUsd : 1;
  const sum = isShown ? Number(shown.change?.decimal) * 1e9 : (totals.costChangeNanoUsd ?? 0);
  const parts = effects.map(({ name }) => of[name] * rate);
  const byRate = sum - parts.reduce((total, part) => total + part, 0);
  const cents = inCents([...parts, byRate], sum);
  const rows = [
    ...effects.map((effect, index) => ({ ...effect, nano: Math.abs(sum) < CENT ? parts[index] : cents[index] })),
    { label: 'Exchange rate', what: 'A dollar is worth more or less.', nano: cents[effects.length] },
  ].filter(({ nano }, index) => index < effects.length || (isShown && nano !== 0));
  const most = Math.max(...rows.map(({ nano = 0 }) => Math.abs(nano)), 1);
  return (
    <dl className={classes['effects']}>
      {rows.map(({ label, what, nano = 0 }) => (
        <div key={label}>
          <Stack component="dt" gap={0}>
            <strong>{label}</strong>
            <span className="dim small">{what}</span>
          </Stack>
          <dd>
            <Bar nano={nano} most={most} />
            <Money
              as="change"
              nano={nano}
              shown={isShown ? { decimal: String(nano / 1e9), code: displayCurrency ?? '' } : undefined}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/** Requests of both periods that no figure includes. */
const Missing = ({ change: { totals, before, ...now } }: { readonly change: SpendChange }) => {
  const mayMatch = useMayMatch();
  const lines = [
    totals.unpricedRequests + totals.unpricedRequestsBefore > 0 &&
      `The cost of ${plural(totals.unpricedRequests, 'request')} is unknown, and that of ${plural(totals.unpricedRequestsBefore, 'request')} before. No figure includes them.`,
    now.untrackedRequests + before.untrackedRequests > 0 &&
      `Up to ${plural(now.untrackedRequests, 'request')} went untracked, and ${plural(before.untrackedRequests, 'request')} before. No figure includes them; filters do not apply.`,
    (now.mayAlsoMatch || before.mayAlsoMatch) &&
      `Up to ${mayMatch(now.mayAlsoMatch)} may match the filter, and ${mayMatch(before.mayAlsoMatch)} before.`,
    !now.isComplete && 'Names that are too many to list each, or not known, are under (other) and "not known".',
  ].filter((line) => typeof line === 'string');
  return lines.map((line) => (
    <p key={line} className="unknown small">
      {line}
    </p>
  ));
};

/** The change of the total, and its three parts. */
export const Summary = ({ change, zone }: { readonly change: SpendChange; readonly zone: string }) => {
  const { totals, before } = change;
  const shown = shownCosts(totals, change.displayCurrency);
  return (
    <section className="card card-pad" aria-labelledby="change">
      <h2 id="change" className="label">
        {formatPeriod(change.from, change.to, zone)} against {formatPeriod(before.from, before.to, zone)}
      </h2>
      <Group align="baseline" gap="4px 14px" mt={4} mb={14}>
        <Text span fz={26} fw={640} lts="-0.02em">
          <Money as="change" nano={totals.costChangeNanoUsd} shown={shown.change} />
        </Text>
        <span className="dim small">
          <Change of={totals} code={change.displayCurrency} /> from{' '}
          <Money nano={totals.costBeforeNanoUsd} shown={shown.before} /> to{' '}
          <Money nano={totals.costNanoUsd} shown={shown.now} />
        </span>
      </Group>
      {change.effects && <Effects of={change.effects} change={change} />}
      <Missing change={change} />
    </section>
  );
};
