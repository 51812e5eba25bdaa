import { Progress } from '@mantine/core';
import type { SpendTotals } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { formatShare } from '../format/quantity.ts';

/** Neutral colours: those of the chart stand for models and other names. */
const kinds = [
  { kind: 'provider', name: 'Reported', color: 'var(--ink)', what: 'The provider reported the cost itself.' },
  {
    kind: 'computed',
    name: 'Computed',
    color: 'var(--dim)',
    what: 'The usage that the provider reported, at the prices of the price book.',
  },
  {
    kind: 'estimated',
    name: 'Estimated',
    color: 'var(--series-other)',
    what: 'Usage is estimated, such as for interrupted responses.',
  },
] as const;

/** The costs by provenance: reported, computed or estimated. */
export const Provenance = ({ totals }: { readonly totals: SpendTotals }) => {
  const total = totals.costNanoUsd ?? 0;
  const rows = kinds.map((each) => ({ ...each, nano: totals.costByProvenance[each.kind].costNanoUsd ?? 0 }));
  return (
    <section className="card card-pad" aria-labelledby="provenance">
      <div className="card-head">
        <h2 id="provenance">How costs are known</h2>
      </div>
      {totals.costNanoUsd === null ? (
        <p className="unknown small">No cost is known.</p>
      ) : (
        <Known rows={rows} total={total} />
      )}
    </section>
  );
};

type Row = (typeof kinds)[number] & { readonly nano: number };

const Known = ({ rows, total }: { readonly rows: readonly Row[]; readonly total: number }) => (
  <>
    <Progress.Root size={10} aria-hidden>
      {total > 0 &&
        rows.map(({ kind, color, nano }) => <Progress.Section key={kind} value={(nano / total) * 100} color={color} />)}
    </Progress.Root>
    <dl className="facts">
      {rows.map(({ kind, name, color, what, nano }) => (
        <div key={kind} title={what}>
          <dt>
            <span className="swatch" style={{ background: color }} aria-hidden="true" />
            {name}
          </dt>
          <dd>
            <span className="dim num">{total > 0 ? formatShare(nano / total) : '–'}</span>
            <Money nano={nano} />
          </dd>
        </div>
      ))}
    </dl>
  </>
);
