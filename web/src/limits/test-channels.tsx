import { Send } from 'lucide-react';
import type { AlertRule } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import { notifyDone, notifyFailure } from '../notify.ts';
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

/** Looks of a button that sends messages. */
export const sendLook = { size: 'sm', variant: 'default', leftSection: <Send size={15} aria-hidden /> } as const;

/** Sends a test message on the stored channels of a rule or budget. */
export const TestChannels = ({ stored: { id, channels } }: { readonly stored: Pick<AlertRule, 'id' | 'channels'> }) => {
  const test = useApi().useMutation('post', '/alert-rules/{id}/test', {
    onSuccess: notifySent,
    meta: { failure: 'No test was sent' },
  });
  // Mail needs no test: addresses are verified.
  if (channels.every((channel) => channel === 'email')) return null;
  return <ActButton {...sendLook} label="Test the saved channels" act={test} sent={{ params: { path: { id } } }} />;
};
