import type { SpendTotals } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { formatShare } from '../format/quantity.ts';
import classes from './overview.module.css';

const kinds = [
  { kind: 'provider', name: 'Reported', color: 'var(--series-1)', what: 'The provider named the cost itself.' },
  {
    kind: 'computed',
    name: 'Computed',
    color: 'var(--series-2)',
    what: 'The provider’s own count of usage, times the price book.',
  },
  {
    kind: 'estimated',
    name: 'Estimated',
    color: 'var(--series-3)',
    what: 'Usage had to be estimated, such as for broken-off answers.',
  },
] as const;

/** How the costs are known. */
export const Provenance = ({ totals }: { readonly totals: SpendTotals }) => {
  const total = totals.costNanoUsd ?? 0;
  const rows = kinds.map((each) => ({ ...each, nano: totals.costByProvenance[each.kind].costNanoUsd ?? 0 }));
  return (
    <section className="card card-pad" aria-labelledby="provenance">
      <div className="card-head">
        <h2 id="provenance">How costs are known</h2>
      </div>
      <div className={classes['stack']} aria-hidden="true">
        {total > 0 &&
          rows.map(
            ({ kind, color, nano }) =>
              nano > 0 && <span key={kind} style={{ flexGrow: nano / total, background: color }} />,
          )}
      </div>
      <dl className={classes['facts']}>
        {rows.map(({ kind, name, color, what, nano }) => (
          <div key={kind} title={what}>
            <dt>
              <span className={classes['swatch']} style={{ background: color }} aria-hidden="true" />
              {name}
            </dt>
            <dd>
              <span className="dim num">{total > 0 ? formatShare(nano / total) : '–'}</span>
              <Money nano={nano} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};
