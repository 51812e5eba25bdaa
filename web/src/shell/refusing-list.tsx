import { Alert } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { OctagonPause } from 'lucide-react';
import type { Budget, Pause } from '../api/responses.ts';
import { Instant } from '../components/amount.tsx';
import { LimitLink } from '../components/links.tsx';
import { boundaryText, refusedText } from '../limits/names.ts';
import { Resume } from '../limits/resume.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';

interface RefusingProps {
  readonly usedUp: readonly Budget[];
  readonly paused: readonly Pause[];
}

const RefusingList = ({ usedUp, paused }: RefusingProps) => {
  const keyNames = useKeyNames();
  const ids = [...usedUp, ...paused].map(({ id }) => id);
  const [dismissed, setDismissed] = useLocalStorage<readonly string[]>({
    key: 'refusals-dismissed',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  if (ids.every((id) => dismissed.includes(id))) return null;
  return (
    <Alert
      color="red"
      radius={0}
      icon={<OctagonPause size={18} />}
      role="region"
      aria-label="Refused requests"
      withCloseButton
      closeButtonLabel="Dismiss for me"
      onClose={() => setDismissed(ids)}
    >
      {usedUp.map((budget) => (
        <div key={budget.id}>
          The gateway refuses {refusedText(budget.filter, keyNames)}
          {budget.state.period && ` until ${boundaryText(budget.state.period.end)}`}:{' '}
          <LimitLink id={budget.id}>{budget.name}</LimitLink> is used up.
        </div>
      ))}
      {paused.map((pause) => (
        <div key={pause.id}>
          The gateway refuses {refusedText(pause.scope, keyNames)}
          {pause.until !== null && (
            <>
              {' '}
              until <Instant iso={pause.until} />
            </>
          )}
          : paused, {pause.name}. <Resume pause={pause} />
        </div>
      ))}
    </Alert>
  );
};

export default RefusingList;
