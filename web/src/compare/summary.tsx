import { Group, Stack, Text } from '@mantine/core';
import type { SpendChange } from '../api/responses.ts';
import { Money, useMayMatch } from '../components/amount.tsx';
import { shownCosts } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { formatPeriod } from '../format/time.ts';
import { Change } from '../spend/change.tsx';
import classes from './compare.module.css';
import { effectsShown } from './effects.ts';

/** A change as a part of the largest one. */
export const Bar = ({ nano, most }: { readonly nano: number; readonly most: number }) => (
  <span className={`painted ${classes['bar']}`} data-less={nano < 0 || undefined} aria-hidden="true">
    <span style={{ width: `${(Math.abs(nano) / most) * 50}%` }} />
  </span>
);

/** The three effects, and where the exchange rate changed what that did. */
const Effects = ({ change }: { readonly change: SpendChange }) => {
  const { rows, code } = effectsShown(change);
  const most = Math.max(...rows.map(({ nano }) => Math.abs(nano)), 1);
  return (
    <dl className={classes['effects']}>
      {rows.map(({ label, what, nano }) => (
        <div key={label}>
          <Stack component="dt" gap={0}>
            <strong>{label}</strong>
            <span className="dim small">{what}</span>
          </Stack>
          <dd>
            <Bar nano={nano} most={most} />
            <Money as="change" nano={nano} shown={code ? { decimal: String(nano / 1e9), code } : undefined} />
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
      {change.effects && <Effects change={change} />}
      <Missing change={change} />
    </section>
  );
};
