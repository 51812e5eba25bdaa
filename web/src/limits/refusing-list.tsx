import { Alert, Button } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { OctagonPause } from 'lucide-react';
import type { Budget, Pause } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { LimitLink } from '../components/page.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { boundaryText, refusedText } from './names.ts';

/** Ends a pause, for those who may. Without the buttons that ask: the bar on every page has it, and loads no dialog. */
export const Resume = ({ pause: { id, name } }: { readonly pause: Pause }) => {
  const { may } = useMe();
  const { mutate, isPending } = useApi().useMutation('delete', '/pauses/{id}', {
    meta: { done: `${name} has ended. Requests pass again within seconds.`, failure: 'The pause was not ended' },
  });
  const end = () => mutate({ params: { path: { id } } });
  if (!may('rules:write')) return null;
  return (
    <Button size="compact-xs" variant="default" aria-label={`Resume ${name}`} loading={isPending} onClick={end}>
      Resume
    </Button>
  );
};

interface RefusingProps {
  readonly usedUp: readonly Budget[];
  readonly paused: readonly Pause[];
}

const RefusingList = ({ usedUp, paused }: RefusingProps) => {
  const keyNames = useKeyNames();
  // A budget that is used up again in its next period is shown again.
  const ids = [...usedUp.map(({ id, state }) => `${id} ${state.period?.start}`), ...paused.map(({ id }) => id)];
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
          {pause.until && ' until '}
          {pause.until && <Instant iso={pause.until} />}: paused, {pause.name}. <Resume pause={pause} />
        </div>
      ))}
    </Alert>
  );
};

export default RefusingList;
