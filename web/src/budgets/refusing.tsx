import { OctagonPause } from 'lucide-react';
import { AnchorLink } from '../components/links.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './budgets.module.css';
import { boundaryText, scopeText } from './names.ts';
import { useBudgets } from './use-budgets.ts';

/** On every page: what the gateway refuses now, and why. */
export const Refusing = () => {
  const { data } = useBudgets();
  const keyNames = useKeyNames();
  const refusing = data?.items.filter(({ state }) => state.isBlocking) ?? [];
  if (refusing.length === 0) return null;
  return (
    <div className={classes['refusing']} role="status">
      <OctagonPause size={18} aria-hidden />
      <ul>
        {refusing.map((budget) => (
          <li key={budget.id}>
            The gateway refuses {scopeText(budget, keyNames)}
            {budget.state.period && ` until ${boundaryText(budget.state.period.end)}`}:{' '}
            <AnchorLink to="/budgets/$budgetId" params={{ budgetId: budget.id }} underline="always" inherit>
              {budget.name}
            </AnchorLink>{' '}
            is used up.
          </li>
        ))}
      </ul>
    </div>
  );
};
