import { Checkbox, Group, TextInput } from '@mantine/core';
import { Send } from 'lucide-react';
import type { AlertRule, Sent } from '../api/responses.ts';
import { notifyDone, notifyFailure, useApi } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import type { FormPart } from '../forms/editor.tsx';
import { type ChannelValues, channelNames, targetFields, targetNames } from './channels.ts';

interface ChannelFieldsProps {
  readonly form: FormPart<ChannelValues>;
  readonly label?: string;
}

export const ChannelFields = ({ form, label = 'Notify by' }: ChannelFieldsProps) => {
  const { channels } = form.values;
  return (
    <>
      <Checkbox.Group label={label} {...form.getInputProps('channels')}>
        <Group mt={6}>
          {Object.entries(channelNames).map(([value, name]) => (
            <Checkbox key={value} value={value} label={value === 'email' ? 'E-mail to the account’s users' : name} />
          ))}
        </Group>
      </Checkbox.Group>
      {channels.includes('webhook') && (
        <TextInput
          label="Webhook address"
          description="Any HTTPS address. Messages are signed."
          placeholder="https://example.com/spend-alerts"
          maxLength={2048}
          {...form.getInputProps('webhookUrl')}
        />
      )}
      {targetNames
        .filter((name) => channels.includes(name))
        .map((name) => (
          <TextInput
            key={name}
            {...targetFields[name]}
            description="It is secret: once it is saved, only its end is shown."
            maxLength={2048}
            autoComplete="off"
            {...form.getInputProps(name)}
          />
        ))}
    </>
  );
};

export const notifySent = ({ items }: Sent): void => {
  for (const { channel, isDelivered, isPending, error } of items) {
    if (isPending) notifyDone(`${channelNames[channel]}: it is sent within minutes.`);
    else if (isDelivered) notifyDone(`${channelNames[channel]}: sent${error === null ? '.' : `, but ${error}`}`);
    else notifyFailure(`${channelNames[channel]}: not delivered`, error);
  }
};

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
