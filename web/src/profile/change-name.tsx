import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import type { Me } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, required } from '../forms/fields.ts';

export const ChangeName = ({ user: { firstName, lastName } }: { readonly user: Me['user'] }) => {
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { firstName, lastName },
    validate: { firstName: required('Your first name'), lastName: required('Your last name') },
  });
  const change = useApi().useMutation('patch', '/auth/me', {
    onSuccess: async () => {
      notifyDone('Your name is changed.');
      form.resetDirty();
      await queryClient.invalidateQueries({ queryKey: ['get', '/auth/me'] });
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'firstName', 'lastName')),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
      <Stack>
        {change.isError && <ProblemNote error={change.error} title="Your name was not changed" />}
        <Group grow align="flex-start">
          <TextInput label="First name" autoComplete="given-name" {...form.getInputProps('firstName')} />
          <TextInput label="Last name" autoComplete="family-name" {...form.getInputProps('lastName')} />
        </Group>
        <Group>
          <Button type="submit" disabled={!form.isDirty()} loading={change.isPending}>
            Save the name
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
