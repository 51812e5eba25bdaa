import { Checkbox, Group, TextInput } from '@mantine/core';
import type { FormPart } from '../components/form-part.ts';
import { type ChannelValues, channelNames, targetFields } from './channels.ts';

interface ChannelFieldsProps {
  readonly form: FormPart<ChannelValues>;
  readonly label?: string;
}

/** How a rule, budget or report notifies. */
export const ChannelFields = ({ form, label = 'Notify by' }: ChannelFieldsProps) => {
  const { channels } = form.values;
  return (
    <>
      <Checkbox.Group
        label={label}
        value={[...channels]}
        onChange={(value) => form.setFieldValue('channels', value as ChannelValues['channels'])}
        error={form.errors['channels']}
      >
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
      {targetFields
        .filter(({ name }) => channels.includes(name))
        .map(({ name, ...shown }) => (
          <TextInput
            key={name}
            {...shown}
            description="It is secret: once it is saved, only its end is shown."
            maxLength={2048}
            autoComplete="off"
            {...form.getInputProps(name)}
          />
        ))}
    </>
  );
};
