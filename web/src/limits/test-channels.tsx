import { Button } from '@mantine/core';
import { Send } from 'lucide-react';
import { useApi } from '../app.ts';
import { notifyDone, notifyFailure, notifyProblem } from '../components/notify.ts';
import { type Channel, channelNames } from './channels.ts';

interface Sent {
  readonly items: readonly {
    readonly channel: Channel;
    readonly isDelivered: boolean;
    readonly error: string | null;
  }[];
}

/** Shows how each channel took a message that was sent at once. */
export const notifySent = ({ items }: Sent): void => {
  for (const { channel, isDelivered, error } of items) {
    if (isDelivered) notifyDone(`${channelNames[channel]}: sent${error === null ? '.' : `, but ${error}`}`);
    else notifyFailure(`${channelNames[channel]}: not delivered`, error);
  }
};

interface SendButtonProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly onClick: () => void;
}

export const SendButton = ({ label, isPending, onClick }: SendButtonProps) => (
  <Button variant="default" leftSection={<Send size={15} aria-hidden />} loading={isPending} onClick={onClick}>
    {label}
  </Button>
);

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
