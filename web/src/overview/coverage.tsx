import { CircleCheck } from 'lucide-react';
import type { SpendReport, SpendTotals } from '../api/responses.ts';
import { formatWhole } from '../format/quantity.ts';
import classes from './overview.module.css';

type CountName = {
  [K in keyof SpendTotals]-?: SpendTotals[K] extends number ? K : never;
}[keyof SpendTotals];

interface Kind {
  readonly key: CountName;
  readonly name: string;
  readonly what: string;
}

/** What makes the figures too low, by nobody knows how much. */
const gaps = [
  { key: 'unpricedRequests', name: 'Unknown cost', what: 'Counted as requests; the cost leaves them out.' },
  { key: 'unfinishedRequests', name: 'End not known', what: 'Still running, or cut off before they were settled.' },
  { key: 'partialRequests', name: 'Read in part', what: 'The answer broke off: usage may be too low.' },
] as const satisfies readonly Kind[];

/** What is in the figures, and may surprise. */
const oddities = [
  { key: 'bypassedRequests', name: 'Bypassed', what: 'Forwarded while tracking was failing; counted all the same.' },
  { key: 'overflowRequests', name: 'Under (other)', what: 'Too many distinct tags or models that day to name each.' },
  { key: 'errors', name: 'Failed calls', what: 'The provider refused, failed or broke off.' },
  { key: 'freeRequests', name: 'Free calls', what: 'Cost nothing, such as listing models.' },
] as const satisfies readonly Kind[];

const Fact = ({
  name,
  what,
  count,
  warns = false,
}: {
  readonly name: string;
  readonly what: string;
  readonly count: string;
  readonly warns?: boolean;
}) => (
  <div>
    <dt>
      <span>
        {name}
        <span className={classes['what']}>{what}</span>
      </span>
    </dt>
    <dd>
      <span className={`num ${warns ? 'unknown' : ''}`}>{count}</span>
    </dd>
  </div>
);

export const Coverage = ({ totals, untracked }: Pick<SpendReport, 'totals' | 'untracked'>) => {
  const counted = (kinds: readonly Kind[]) =>
    kinds.flatMap(({ key, ...kind }) => {
      return totals[key] > 0 ? [{ ...kind, key, count: formatWhole(totals[key]) }] : [];
    });
  const [missing, odd] = [counted(gaps), counted(oddities)];
  return (
    <section className="card card-pad" aria-labelledby="coverage">
      <div className="card-head">
        <h2 id="coverage">What the figures leave out</h2>
      </div>
      {missing.length === 0 && untracked.requests === 0 ? (
        <p className={classes['complete']}>
          <CircleCheck size={17} aria-hidden /> Nothing: every request has a cost.
        </p>
      ) : (
        <dl className={classes['facts']}>
          {untracked.requests > 0 && (
            <Fact
              name="Untracked"
              what="Forwarded, and in no figure at all."
              count={`≤ ${formatWhole(untracked.requests)}`}
              warns
            />
          )}
          {missing.map(({ key, ...fact }) => (
            <Fact key={key} {...fact} warns />
          ))}
        </dl>
      )}
      {odd.length > 0 && (
        <>
          <h3 className={classes['also']}>What they hold as well</h3>
          <dl className={classes['facts']}>
            {odd.map(({ key, ...fact }) => (
              <Fact key={key} {...fact} />
            ))}
          </dl>
        </>
      )}
    </section>
  );
};
