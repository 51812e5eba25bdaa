import { lazy, Suspense } from 'react';
import { useBudgets, usePauses } from '../limits/use-limits.ts';

const RefusingList = lazy(() => import('./refusing-list.tsx'));

/** On every page: what the gateway refuses now, and why. */
export const Refusing = () => {
  const { data: budgets } = useBudgets();
  const { data: pauses } = usePauses();
  const usedUp = budgets?.items.filter(({ state }) => state.isBlocking) ?? [];
  const paused = pauses?.items ?? [];
  if (usedUp.length + paused.length === 0) return null;
  return (
    <Suspense>
      <RefusingList usedUp={usedUp} paused={paused} />
    </Suspense>
  );
};
