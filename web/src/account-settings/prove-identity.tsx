import { Modal, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseMutationResult } from '@tanstack/react-query';
import { Credentials, credentialsOf } from '../account/credentials.tsx';
import { useMe } from '../app.ts';
import { Cancel } from '../components/buttons.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';

interface Change<Body> {
  readonly isOpen: boolean;
  readonly title: string;
  /** Effect, in a sentence or more. */
  readonly text: string;
  /** The label of the button that sends. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Heading of an error. */
  readonly failure: string;
  readonly request: Pick<UseMutationResult<unknown, unknown, { body: Body }>, 'mutate' | 'error' | 'isPending'>;
  /** Body of the request, with the proof. */
  readonly bodyOf: (proof: { readonly password?: string; readonly totp?: string }) => Body;
  readonly onClose: () => void;
}

const Ask = <Body,>({ text, action, isDangerous = false, failure, request, bodyOf, onClose }: Change<Body>) => {
  const { me } = useMe();
  const form = useForm({ initialValues: { password: '', totp: '' } });
  return (
    <SubmitForm
      form={form}
      request={request}
      sent={(values) => ({ body: bodyOf(values.password === '' ? {} : credentialsOf(values)) })}
      failure={failure}
      submit={action}
      color={isDangerous ? 'red' : undefined}
      otherButtons={<Cancel onClick={onClose} />}
      intro={<Text size="sm">{text}</Text>}
    >
      <Credentials label="Your password" asksForCode={me?.user.totpEnabled ?? false} inputProps={form.getInputProps} />
      <p className="dim small">Leave it empty if you sign in at an identity provider, and sign in again just before.</p>
    </SubmitForm>
  );
};

/** Asks for the password, and the code of the second factor, before a change that a stolen session must not make. */
export const ProveIdentity = <Body,>(change: Change<Body>) => (
  <Modal opened={change.isOpen} onClose={change.onClose} title={change.title}>
    <Ask {...change} />
  </Modal>
);
