import type { Budget } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { formatPercent, plural } from '../format/quantity.ts';
import classes from './overview.module.css';

const SHOWN = 4;

const Line = ({ budget: { id, name, amount, state } }: { readonly budget: Budget }) => (
  <div>
    <dt>
      <span>
        <AnchorLink to="/limits/$limitId" params={{ limitId: id }} inherit>
          {name}
        </AnchorLink>
        <span className={classes['what']}>
          {state.projectedNanoUsd === null ? (
            'too early for a projection'
          ) : (
            <>
              on course for ≈ <Money nano={state.projectedNanoUsd} as="rough" />
            </>
          )}
          {state.unpricedRequests > 0 && (
            <span className="unknown"> · + {plural(state.unpricedRequests, 'request')} of unknown cost</span>
          )}
        </span>
      </span>
    </dt>
    <dd>
      <span className={`num ${state.percentUsed >= 100 ? 'unknown' : ''}`}>
        {formatPercent(state.percentUsed)} of <Money nano={Math.round(amount * 1e9)} as="rough" />
      </span>
    </dd>
  </div>
);

/** The budgets in force, those that are used most first. */
export const Budgets = ({ budgets }: { readonly budgets: readonly Budget[] }) => {
  const inForce = budgets
    .filter(({ isActive, state }) => isActive && state.period !== null)
    .toSorted((left, right) => right.state.percentUsed - left.state.percentUsed);
  if (inForce.length === 0) return null;
  return (
    <section className="card card-pad" aria-labelledby="budgets">
      <div className="card-head">
        <h2 id="budgets">Budgets</h2>
        {inForce.length > SHOWN && (
          <AnchorLink size="sm" to="/limits">
            All {inForce.length}
          </AnchorLink>
        )}
      </div>
      <dl className="facts">
        {inForce.slice(0, SHOWN).map((budget) => (
          <Line key={budget.id} budget={budget} />
        ))}
      </dl>
    </section>
  );
};
