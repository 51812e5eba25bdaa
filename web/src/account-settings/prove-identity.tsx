import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Credentials, credentialsOf, REFUSALS } from '../account/credentials.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors } from '../forms/fields.ts';
import { useMe } from '../session/permissions.ts';

interface Change {
  /** What happens, in a sentence or more. */
  readonly text: string;
  /** The label of the button that sends. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Heading of an error. */
  readonly failure: string;
  /** The request with the proof. */
  readonly request: { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown };
  readonly onSend: (
    proof: { readonly password?: string; readonly totp?: string },
    options: { readonly onError: (error: unknown) => void },
  ) => void;
  readonly onClose: () => void;
}

const Ask = ({ text, action, isDangerous = false, failure, request, onSend, onClose }: Change) => {
  const { me } = useMe();
  const form = useForm({ initialValues: { password: '', totp: '' } });
  const onError = (error: unknown) => form.setErrors(fieldErrors(error, ...Object.keys(form.values)));
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => onSend(values.password === '' ? {} : credentialsOf(values), { onError }))}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        {request.isError && <ProblemNote error={request.error} title={failure} messages={REFUSALS} />}
        <Credentials
          label="Your password"
          asksForCode={me?.user.totpEnabled ?? false}
          inputProps={form.getInputProps}
        />
        <p className="dim small">
          Leave it empty if you sign in at an identity provider, and sign in again just before.
        </p>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={request.isPending} {...(isDangerous && { color: 'red' })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Asks for the password, and the code of the second factor, before a change that a stolen session must not make. */
export const ProveIdentity = ({
  isOpen,
  title,
  ...change
}: Change & { readonly isOpen: boolean; readonly title: string }) => (
  <Modal opened={isOpen} onClose={change.onClose} title={title}>
    <Ask {...change} />
  </Modal>
);
