import { Button } from '@mantine/core';
import { Send } from 'lucide-react';
import { type Channel, channelNames } from '../rules/channels.ts';
import { notifyDone, notifyFailure } from './notify.ts';

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

export const SendButton = ({
  label,
  isPending,
  onClick,
}: {
  readonly label: string;
  readonly isPending: boolean;
  readonly onClick: () => void;
}) => (
  <Button variant="default" leftSection={<Send size={15} aria-hidden />} loading={isPending} onClick={onClick}>
    {label}
  </Button>
);
