import { Checkbox, Group, TextInput } from '@mantine/core';
import type { FormPart } from '../components/form-part.ts';
import type { ChannelValues } from './channels.ts';

/** How a rule or budget notifies. */
export const ChannelFields = ({ form }: { readonly form: FormPart<ChannelValues> }) => {
  const { channels } = form.values;
  return (
    <>
      <Checkbox.Group
        label="Notify by"
        value={[...channels]}
        onChange={(value) => form.setFieldValue('channels', value as ChannelValues['channels'])}
        error={form.errors['channels']}
      >
        <Group mt={6}>
          <Checkbox value="email" label="E-mail to the account’s users" />
          <Checkbox value="webhook" label="Webhook" />
        </Group>
      </Checkbox.Group>
      {channels.includes('webhook') && (
        <TextInput
          label="Webhook address"
          description="Signed. Works with Slack’s incoming webhooks."
          placeholder="https://hooks.slack.com/services/…"
          maxLength={2048}
          {...form.getInputProps('webhookUrl')}
        />
      )}
    </>
  );
};
