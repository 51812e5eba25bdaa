import { Button, Modal, Stack, TagsInput } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../app.ts';
import { useFocusBack } from '../components/keyboard.ts';
import { LoadProblem, ProblemNote } from '../components/page.tsx';

const Names = ({ onClose }: { readonly onClose: () => void }) => {
  useFocusBack();
  const api = useApi();
  const query = api.useQuery('get', '/dimensions');
  const { data } = query;
  const declared = data?.items.filter(({ isDeclared }) => isDeclared).map(({ name }) => name) ?? [];
  const [changed, setChanged] = useState<string[]>();
  const declare = api.useMutation('put', '/dimensions', { onSuccess: onClose });
  const names = changed ?? declared;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        declare.mutate({ body: { names } });
      }}
    >
      <Stack>
        <LoadProblem query={query} title="The dimensions could not be loaded" />
        {declare.isError && <ProblemNote error={declare.error} title="The dimensions were not changed" />}
        <p className="dim small">
          Requests carry names and values in the header X-Service-Metadata. Spend is split by the names listed here, for
          requests from now on. What was counted under a name stays when it is removed.
        </p>
        <TagsInput
          label="Metadata names"
          placeholder={names.length === 0 ? 'team, customer, env …' : ''}
          maxTags={data?.limit ?? 0}
          data={data?.items.map(({ name }) => name) ?? []}
          value={names}
          onChange={setChanged}
          data-autofocus
        />
        <Button type="submit" loading={declare.isPending} disabled={data === undefined}>
          Save
        </Button>
      </Stack>
    </form>
  );
};

/** Says which metadata names spend is split by. */
const DeclareDimensions = ({ onClose }: { readonly onClose: () => void }) => (
  <Modal opened onClose={onClose} title="Dimensions of spend">
    <Names onClose={onClose} />
  </Modal>
);

export default DeclareDimensions;
