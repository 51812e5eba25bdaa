import { useForm } from '@mantine/form';
import { NameFields, nameProblems } from '../account/credentials.tsx';
import type { Me } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

export const ChangeName = ({ user: { firstName, lastName } }: { readonly user: Me['user'] }) => {
  const form = useForm({ initialValues: { firstName, lastName }, validate: nameProblems });
  const change = useApi().useMutation('patch', '/auth/me', {
    onSuccess: () => {
      notifyDone('Your name is changed.');
      form.resetDirty();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={(body) => ({ body })}
      failure="Your name was not changed"
      submit="Save the name"
      disabled={!form.isDirty()}
      beside={null}
    >
      <NameFields inputProps={form.getInputProps} />
    </SubmitForm>
  );
};
