import { Alert } from '@mantine/core';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Budget } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { formatMoney } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { utcDate } from '../format/time.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import { parametersOf } from '../spend/filters.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './budgets.module.css';
import { boundaryText, refusedText } from './names.ts';
import { Used } from './used.tsx';

/** Until the gateways know that a budget is used up: 2 s for a batch, 2 s to judge, 5 s of cache. See docs/budgets.md. */
const LAG_SECONDS = 9;
const HOUR_SECONDS = 3_600;

/** What can still be spent after the budget is used up: its lag, at the rate of the busiest hour since yesterday. */
const Bound = ({ budget }: { readonly budget: Budget }) => {
  const { data } = useApi().useQuery('get', '/spend', {
    params: {
      query: {
        from: utcDate(new Date(Date.now() - DAY_MS)),
        granularity: 'hour',
        ...parametersOf(spendFiltersOf(budget.filter)),
      },
    },
  });
  const busiest = Math.max(0, ...(data?.series ?? []).map(({ costNanoUsd }) => costNanoUsd ?? 0));
  return (
    <p className="dim small">
      Requests are refused up to {LAG_SECONDS} seconds after the budget is used up, and later while the queue is behind.
      What runs by then goes on.
      {busiest > 0 && (
        <>
          {' '}
          At the rate of the busiest hour since yesterday,{' '}
          <Money nano={Math.round((busiest * LAG_SECONDS) / HOUR_SECONDS)} /> more can be spent.
        </>
      )}
    </p>
  );
};

/** What the budget has used, and what it does now. */
export const BudgetState = ({ budget }: { readonly budget: Budget }) => {
  const keyNames = useKeyNames();
  const { period, knownNanoUsd, usedNanoUsd, isBlocking, mayAlsoMatch } = budget.state;
  return (
    <section className="card card-pad" aria-label="Now">
      {isBlocking && (
        <Alert
          color="red"
          variant="light"
          mb="md"
          title={`The gateway refuses ${refusedText(budget.filter, keyNames)}`}
        >
          {period && `Until ${boundaryText(period.end)}. `}Raise the amount, or switch the budget off: requests pass
          again within seconds.
        </Alert>
      )}
      <Used budget={budget} />
      <dl className={classes['facts']}>
        {period && (
          <div>
            <dt>Period</dt>
            <dd className="num">
              {boundaryText(period.start)} to {boundaryText(period.end)}
            </dd>
          </div>
        )}
        {knownNanoUsd !== usedNanoUsd && (
          <div>
            <dt>Known cost</dt>
            <dd>
              <Money nano={knownNanoUsd} />
            </dd>
          </div>
        )}
      </dl>
      {mayAlsoMatch && (
        <p className="unknown small">
          Up to {plural(mayAlsoMatch.requests, 'more request')} for {formatMoney(mayAlsoMatch.costNanoUsd)} may match
          the filter: they were counted under (other).
        </p>
      )}
      {budget.block?.enforcement === 'lagging' && <Bound budget={budget} />}
      {budget.block?.enforcement === 'reserved' && (
        <p className="dim small">
          Each request reserves the most that it may cost before it is forwarded. Nothing more can be spent where the
          request limits its output and the price is known.
        </p>
      )}
    </section>
  );
};
