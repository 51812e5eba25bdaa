import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ProveIdentity } from './prove-identity.tsx';

/** The owner deletes the account, and cancels that within the grace. */
export const DeleteAccount = () => {
  const { may } = useMe();
  const api = useApi();
  const [asking, setAsking] = useState(false);
  const query = api.useQuery('get', '/account/deletion');
  const { data, error } = query;
  const request = api.useMutation('post', '/account/deletion', {
    onSuccess: () => setAsking(false),
  });
  const cancel = api.useMutation('delete', '/account/deletion', {
    onSuccess: () => notifyDone('The account stays.'),
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
      <ProveIdentity
        isOpen={asking}
        title="Delete this account?"
        text="For seven days nothing changes and you can cancel. Then keys and tokens are refused, and members, records, sums and the subscription are deleted for good. You may want to export all data first."
        action="Delete the account"
        isDangerous
        failure="The account is not being deleted"
        request={request}
        bodyOf={(proof) => proof}
        onClose={() => setAsking(false)}
      />
    </Stack>
  );
};
