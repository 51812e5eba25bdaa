import { CircleCheck } from 'lucide-react';
import type { SpendTotals } from '../api/answers.ts';
import { formatWhole } from '../format/quantity.ts';
import classes from './overview.module.css';

/** What the figures do not hold, or hold with a reserve. */
const gaps = [
  {
    key: 'unpricedRequests',
    name: 'Unknown cost',
    what: 'Counted as requests; the cost leaves them out.',
    warns: true,
  },
  {
    key: 'unsettledRequests',
    name: 'End not known',
    what: 'Still running, or cut off before they were settled.',
    warns: true,
  },
  { key: 'partialRequests', name: 'Read in part', what: 'The answer broke off: usage may be too low.', warns: true },
  {
    key: 'bypassedRequests',
    name: 'Bypassed',
    what: 'Forwarded while tracking was failing, and counted all the same.',
    warns: false,
  },
  {
    key: 'foldedRequests',
    name: 'Under (other)',
    what: 'Too many distinct tags or models that day to name each.',
    warns: false,
  },
  { key: 'errors', name: 'Failed calls', what: 'The provider refused, failed or broke off.', warns: false },
  { key: 'freeRequests', name: 'Free calls', what: 'Cost nothing, such as listing models.', warns: false },
] as const satisfies readonly {
  readonly key: keyof SpendTotals;
  readonly name: string;
  readonly what: string;
  readonly warns: boolean;
}[];

export const Coverage = ({ totals }: { readonly totals: SpendTotals }) => {
  const shown = gaps.filter(({ key }) => totals[key] > 0);
  const isComplete = !shown.some(({ warns }) => warns);
  return (
    <section className="card card-pad" aria-labelledby="coverage">
      <div className="card-head">
        <h2 id="coverage">What the figures leave out</h2>
      </div>
      {isComplete && (
        <p className={classes['complete']}>
          <CircleCheck size={17} aria-hidden /> Nothing: every request has a cost.
        </p>
      )}
      <dl className={classes['facts']}>
        {shown.map(({ key, name, what, warns }) => (
          <div key={key}>
            <dt>
              <span>
                {name}
                <span className={classes['what']}>{what}</span>
              </span>
            </dt>
            <dd>
              <span className={`num ${warns ? 'unknown' : ''}`}>{formatWhole(totals[key])}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};
