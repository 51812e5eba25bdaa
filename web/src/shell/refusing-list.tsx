import { OctagonPause } from 'lucide-react';
import type { Budget, Pause } from '../api/responses.ts';
import { Instant } from '../components/amount.tsx';
import { AnchorLink } from '../components/links.tsx';
import { boundaryText, refusedText } from '../limits/names.ts';
import { Resume } from '../limits/resume.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './refusing.module.css';

interface RefusingProps {
  readonly usedUp: readonly Budget[];
  readonly paused: readonly Pause[];
}

const RefusingList = ({ usedUp, paused }: RefusingProps) => {
  const keyNames = useKeyNames();
  return (
    <section className={classes['refusing']} aria-label="Refused requests">
      <OctagonPause size={18} aria-hidden />
      <ul>
        {usedUp.map((budget) => (
          <li key={budget.id}>
            The gateway refuses {refusedText(budget.filter, keyNames)}
            {budget.state.period && ` until ${boundaryText(budget.state.period.end)}`}:{' '}
            <AnchorLink to="/limits/$limitId" params={{ limitId: budget.id }} underline="always" inherit>
              {budget.name}
            </AnchorLink>{' '}
            is used up.
          </li>
        ))}
        {paused.map((pause) => (
          <li key={pause.id}>
            The gateway refuses {refusedText(pause.scope, keyNames)}
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

export default RefusingList;
