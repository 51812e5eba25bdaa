import { Group } from '@mantine/core';
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

/** Requests that make the figures too low, by an unknown amount. */
const missing = [
  { key: 'unpricedRequests', name: 'Unknown cost', what: 'Counted as requests, but not in the cost.' },
  { key: 'unfinishedRequests', name: 'Unfinished', what: 'Still running, or their end was never recorded.' },
  { key: 'partialRequests', name: 'Read in part', what: 'The response was interrupted: usage may be too low.' },
] as const satisfies readonly Kind[];

/** Requests that the figures include, and that may surprise. */
const included = [
  { key: 'bypassedRequests', name: 'Bypassed', what: 'Forwarded while tracking was failing; still counted.' },
  { key: 'overflowRequests', name: 'Under (other)', what: 'Too many distinct tags or models to list each.' },
  { key: 'errors', name: 'Failed requests', what: 'The provider rejected the request, failed or was interrupted.' },
  { key: 'freeRequests', name: 'Free requests', what: 'Cost nothing, such as listing models.' },
] as const satisfies readonly Kind[];

interface FactProps {
  readonly name: string;
  readonly what: string;
  readonly count: string;
  readonly warns?: boolean;
}

const Fact = ({ name, what, count, warns = false }: FactProps) => (
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

/** The requests that the figures miss, and those they include that may surprise. */
export const Coverage = ({ totals, untracked }: Pick<SpendReport, 'totals' | 'untracked'>) => {
  const rowsOf = (kinds: readonly Kind[]) =>
    kinds.flatMap((kind) => (totals[kind.key] > 0 ? [{ ...kind, count: formatWhole(totals[kind.key]) }] : []));
  const [missingRows, includedRows] = [rowsOf(missing), rowsOf(included)];
  return (
    <section className="card card-pad" aria-labelledby="coverage">
      <div className="card-head">
        <h2 id="coverage">Missing from the figures</h2>
      </div>
      {missingRows.length === 0 && untracked.requests === 0 ? (
        <Group gap={8} fz="sm" c="var(--good)">
          <CircleCheck size={17} aria-hidden /> Nothing: every request has a cost.
        </Group>
      ) : (
        <dl className="facts">
          {untracked.requests > 0 && (
            <Fact
              name="Untracked"
              what="Forwarded, but not in any figure."
              count={`≤ ${formatWhole(untracked.requests)}`}
              warns
            />
          )}
          {missingRows.map(({ key, ...fact }) => (
            <Fact key={key} {...fact} warns />
          ))}
        </dl>
      )}
      {includedRows.length > 0 && (
        <>
          <h3 className={classes['also']}>Included in the figures</h3>
          <dl className="facts">
            {includedRows.map(({ key, ...fact }) => (
              <Fact key={key} {...fact} />
            ))}
          </dl>
        </>
      )}
    </section>
  );
};
