import { OctagonPause } from 'lucide-react';
import { boundaryText, scopeText } from '../budgets/names.ts';
import { useBudgets } from '../budgets/use-budgets.ts';
import { Instant } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { pausedText } from '../pauses/names.ts';
import { Resume } from '../pauses/resume.tsx';
import { usePauses } from '../pauses/use-pauses.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './refusing.module.css';

/** On every page: what the gateway refuses now, and why. */
export const Refusing = () => {
  const { data: budgets } = useBudgets();
  const { data: pauses } = usePauses();
  const keyNames = useKeyNames();
  const usedUp = budgets?.items.filter(({ state }) => state.isBlocking) ?? [];
  const paused = pauses?.items ?? [];
  if (usedUp.length + paused.length === 0) return null;
  return (
    <section className={classes['refusing']} aria-label="Refused requests">
      <OctagonPause size={18} aria-hidden />
      <ul>
        {usedUp.map((budget) => (
          <li key={budget.id}>
            The gateway refuses {scopeText(budget, keyNames)}
            {budget.state.period && ` until ${boundaryText(budget.state.period.end)}`}:{' '}
            <AnchorLink to="/budgets/$budgetId" params={{ budgetId: budget.id }} underline="always" inherit>
              {budget.name}
            </AnchorLink>{' '}
            is used up.
          </li>
        ))}
        {paused.map((pause) => (
          <li key={pause.id}>
            The gateway refuses {pausedText(pause, keyNames)}
            {pause.until !== null && (
              <>
                {' '}
                until <Instant iso={pause.until} />
              </>
            )}
            : paused, {pause.name}. <Resume pause={pause} />
          </li>
        ))}
      </ul>
    </section>
  );
};
