import { Alert, Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrors } from '../account/fields.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { Credentials, credentialsOf, REFUSALS } from '../profile/credentials.tsx';
import { useMe } from '../session/permissions.ts';

const useReloadDeletion = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/account/deletion'] });
};

/** Asks for the password. An owner who signs in at an identity provider has none, and leaves it empty. */
const Ask = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const reload = useReloadDeletion();
  const form = useForm({ initialValues: { password: '', totp: '' } });
  const request = useApi().useMutation('post', '/account/deletion', {
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: () => {
      onClose();
      return reload();
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        request.mutate({ body: values.password === '' ? {} : credentialsOf(values) }),
      )}
    >
      <Stack>
        <Text size="sm">
          For seven days nothing changes and you can cancel. Then keys and tokens are refused, and members, records,
          sums and the subscription are deleted for good. You may want to export all data first.
        </Text>
        {request.isError && (
          <ProblemNote error={request.error} title="The account is not being deleted" messages={REFUSALS} />
        )}
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
          <Button type="submit" color="red" loading={request.isPending}>
            Delete the account
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** The owner deletes the account, and cancels that within the grace. */
export const DeleteAccount = () => {
  const { may } = useMe();
  const api = useApi();
  const reload = useReloadDeletion();
  const [asking, setAsking] = useState(false);
  const query = api.useQuery('get', '/account/deletion');
  const { data, error } = query;
  const cancel = api.useMutation('delete', '/account/deletion', {
    onSuccess: () => notifyDone('The account stays.'),
    onSettled: () => reload(),
  });
  if (error && !data) return <LoadProblem query={query} title="It could not be loaded" />;
  if (!data) return <Skeleton height={44} />;
  const { deletion } = data;
  return (
    <Stack>
      {cancel.isError && <ProblemNote error={cancel.error} title="The deletion was not cancelled" />}
      {deletion && (
        <Alert color="red" variant="light" title="This account will be deleted">
          {deletion.requestedBy} asked for it. Everything goes on <Instant iso={deletion.deletesAt} />.
        </Alert>
      )}
      {may('account:delete') ? (
        <Group>
          {deletion ? (
            <Button loading={cancel.isPending} onClick={() => cancel.mutate({})}>
              Keep the account
            </Button>
          ) : (
            <Button color="red" variant="light" onClick={() => setAsking(true)}>
              Delete the account
            </Button>
          )}
        </Group>
      ) : (
        !deletion && <Text size="sm">Only the owner can delete the account.</Text>
      )}
      <Modal opened={asking} onClose={() => setAsking(false)} title="Delete this account?">
        <Ask onClose={() => setAsking(false)} />
      </Modal>
    </Stack>
  );
};
