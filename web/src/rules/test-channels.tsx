import { useApi } from '../app.ts';
import { notifyProblem } from '../components/notify.ts';
import { notifySent, SendButton } from '../components/send-button.tsx';
import type { Channel } from './channels.ts';

/** Sends a test message on the stored channels of a rule or budget. */
export const TestChannels = ({
  stored: { id, channels },
}: {
  readonly stored: { readonly id: string; readonly channels: readonly Channel[] };
}) => {
  const test = useApi().useMutation('post', '/alert-rules/{id}/test', {
    onSuccess: notifySent,
    onError: notifyProblem('No test was sent'),
  });
  // Mail needs no test: addresses are verified.
  if (channels.every((channel) => channel === 'email')) return null;
  return (
    <SendButton
      label="Test the saved channels"
      isPending={test.isPending}
      onClick={() => test.mutate({ params: { path: { id } } })}
    />
  );
};
