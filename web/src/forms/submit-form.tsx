import { Button, Group, Stack, TextInput, type TextInputProps } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { ProblemNote } from '../components/page.tsx';
import { fieldErrors, otherErrors } from './fields.ts';

interface SubmitFormProps<Values, Sent> {
  readonly form: UseFormReturnType<Values>;
  readonly request: Pick<UseMutationResult<unknown, unknown, Sent>, 'mutate' | 'error' | 'isPending'>;
  readonly sent: (values: Values) => Sent;
  /** The heading of an error. */
  readonly failure?: string;
  /** The texts of errors by code, where the API's are for programmers. */
  readonly messages?: Readonly<Record<string, string>>;
  readonly submit: string;
  readonly color?: string | undefined;
  readonly disabled?: boolean;
  /** Other buttons in one row with that of the form; null for a row of one. By default the button is as wide as the form. */
  readonly otherButtons?: ReactNode;
  /** Shown above an error. */
  readonly intro?: ReactNode;
  /** Shown below the button. */
  readonly below?: ReactNode;
  readonly children: ReactNode;
}

/** In place of a request where a form leads to a next step on the page. */
export const nextStep = <Sent,>(mutate: (sent: Sent) => void) => ({ mutate, error: null, isPending: false });

/** A form that sends one request: the API's errors on its fields stand there, all others above them. */
export const SubmitForm = <Values extends object, Sent>(props: SubmitFormProps<Values, Sent>) => {
  const { form, request, sent, otherButtons } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form is another object with each key that is pressed.
  useEffect(() => form.setErrors(fieldErrors(request.error, form.values)), [request.error]);
  const button = (
    <Button type="submit" loading={request.isPending} color={props.color} disabled={props.disabled}>
      {props.submit}
    </Button>
  );
  return (
    <form noValidate onSubmit={form.onSubmit((values) => request.mutate(sent(values)))}>
      <Stack>
        {props.intro}
        {request.error !== null && (
          <ProblemNote
            error={request.error}
            title={props.failure}
            messages={props.messages}
            details={otherErrors(request.error, form.values)}
          />
        )}
        {props.children}
        {otherButtons === undefined ? (
          button
        ) : (
          <Group>
            {button}
            {otherButtons}
          </Group>
        )}
        {props.below}
      </Stack>
    </form>
  );
};

interface NameFormProps extends Pick<TextInputProps, 'aria-label' | 'placeholder' | 'maxLength'> {
  readonly initial?: string;
  /** Names of others, which it must not have. */
  readonly taken?: readonly string[];
  readonly submit: string;
  readonly isPending: boolean;
  readonly onSend: (name: string, clear: () => void) => void;
}

/** A name and its button, in a row of a table. */
export const NameForm = ({ initial = '', taken = [], submit, isPending, onSend, ...input }: NameFormProps) => {
  const [typed, setTyped] = useState(initial);
  const name = typed.trim();
  const isTaken = !isPending && taken.includes(name);
  const isReady = name !== '' && name !== initial && !isTaken && !isPending;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onSend(name, () => setTyped(''));
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          size="xs"
          flex="0 1 260px"
          miw={0}
          {...input}
          value={typed}
          error={isTaken && 'This name is taken.'}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default" flex="none" loading={isPending} disabled={!isReady}>
          {submit}
        </Button>
      </Group>
    </form>
  );
};
