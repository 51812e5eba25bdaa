import { Alert } from '@mantine/core';
import type { Budget } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { Fact } from '../components/page.tsx';
import { formatMoney } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { boundaryText, refusedText } from './names.ts';
import { Used } from './used.tsx';

/** The use of a budget, and what it does now. */
export const BudgetState = ({ budget }: { readonly budget: Budget }) => {
  const keyNames = useKeyNames();
  const { period, knownNanoUsd, usedNanoUsd, isBlocking, mayAlsoMatch, bound } = budget.state;
  return (
    <section className="card card-pad" aria-label="Now">
      {isBlocking && (
        <Alert color="red" mb="md" title={`The gateway refuses ${refusedText(budget.filter, keyNames)}`}>
          {period && `Until ${boundaryText(period.end)}. `}Raise the amount, or switch the budget off: requests pass
          again within seconds.
        </Alert>
      )}
      <Used budget={budget} />
      <dl className="facts">
        {period && (
          <Fact name="Period">
            {boundaryText(period.start)} to {boundaryText(period.end)}
          </Fact>
        )}
        {knownNanoUsd !== usedNanoUsd && (
          <Fact name="Known cost">
            <Money nano={knownNanoUsd} />
          </Fact>
        )}
      </dl>
      {mayAlsoMatch && (
        <p className="unknown small">
          Up to {plural(mayAlsoMatch.requests, 'more request')} for {formatMoney(mayAlsoMatch.costNanoUsd)} may match
          the filter: they were counted under (other).
        </p>
      )}
      {bound && (
        <p className="dim small">
          {bound.nanoUsd === null ? (
            'How much more can be spent once it is used up is not known yet.'
          ) : (
            <>
              Up to <Money nano={bound.nanoUsd} /> more can be spent once it is used up.
            </>
          )}{' '}
          {bound.because} What runs by then goes on.
        </p>
      )}
    </section>
  );
};
