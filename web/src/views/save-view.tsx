import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ViewPage } from '../../../lambda/domain/accounts/saved-view.ts';
import type { View } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { otherErrors } from '../forms/fields.ts';
import { pageNames } from './use-views.ts';

interface SaveViewProps {
  readonly page: ViewPage;
  readonly search: string;
  readonly views: readonly View[];
  readonly onClose: () => void;
}

/** Saves what the page shows under a name: a new one, or one that it has. */
export const SaveView = ({ page, search, views, onClose }: SaveViewProps) => {
  const api = useApi();
  const [typed, setName] = useState('');
  const name = typed.trim();
  const same = views.find((view) => view.page === page && view.name === name);
  const onSuccess = () => {
    notifyDone(`View ${same ? 'replaced' : 'saved'}.`);
    onClose();
  };
  const create = api.useMutation('post', '/views', { onSuccess });
  const replace = api.useMutation('patch', '/views/{id}', { onSuccess });
  const error = create.error ?? replace.error;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (same) replace.mutate({ params: { path: { id: same.id } }, body: { search } });
        else create.mutate({ body: { name, page, search } });
      }}
    >
      <Stack>
        {error && <ProblemNote error={error} details={otherErrors(error)} title="The view was not saved" />}
        <TextInput
          label="Name"
          description={`All members see it. It opens ${pageNames[page]} with the filters, groups and range that it has now; a range such as “7 days” moves with the time.`}
          maxLength={60}
          data-autofocus
          value={typed}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        {same && (
          <p className="dim small" role="status">
            The page has a view with this name. It gets the present settings.
          </p>
        )}
        <Button type="submit" disabled={name === ''} loading={create.isPending || replace.isPending}>
          {same ? 'Replace the view' : 'Save'}
        </Button>
      </Stack>
    </form>
  );
};
