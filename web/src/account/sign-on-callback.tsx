import { Loader, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { lacksTotp } from '../api/problem.ts';
import type { Tokens } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { AnchorLink, Heading, ProblemNote } from '../components/page.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { nextOf } from '../search.ts';
import { Credentials, credentialsOf, Intro } from './credentials.tsx';
import { type BegunSignOn, signOnError, takeBegunSignOn } from './sign-on.ts';

interface ConnectLoginProps {
  readonly email: string;
  readonly linkToken: string;
  readonly onDone: (tokens: Tokens) => unknown;
}

/** Asks once for the password of the login that the address of a single sign-on has, and connects the two. */
const ConnectLogin = ({ email, linkToken, onDone }: ConnectLoginProps) => {
  const form = useForm({
    initialValues: { password: '', totp: '' },
    validate: { password: required('The password') },
  });
  const link = useApi().useMutation('post', '/auth/sign-on/link', { onSuccess: onDone });
  const asksForCode = form.values.totp !== '' || lacksTotp(link.error);
  return (
    <SubmitForm
      form={form}
      request={link}
      sent={(values) => ({ body: { linkToken, ...credentialsOf(values) } })}
      failure="Your login is not connected yet"
      submit="Connect and sign in"
      intro={
        <Intro title="Connect your login">
          {email} has a login with a password already. Enter the password once: from then on single sign-on is enough.
        </Intro>
      }
    >
      <Credentials label="Password" asksForCode={asksForCode} inputProps={form.getInputProps} />
    </SubmitForm>
  );
};

const NOT_BEGUN = signOnError('This sign-in was not begun in this tab, or was finished already. Begin again.');

/** Identity providers lead back here, with a code or an error. */
export const SignOnCallback = () => {
  const { session, api } = useApp();
  const router = useRouter();
  const search = getRouteApi('/visitors/sign-in/callback').useSearch();

  const enter = async (tokens: Tokens, begun: BegunSignOn): Promise<null> => {
    session.begin(tokens);
    await router.navigate({ href: nextOf(begun), replace: true });
    return null;
  };
  /** Null, unless a login has to be connected first. */
  const finish = async () => {
    const { code, state, error, error_description: why } = search;
    const begun = takeBegunSignOn(state);
    if (begun === undefined) throw NOT_BEGUN;
    if (code === undefined) throw signOnError(why ?? error ?? 'The identity provider sent no code.');
    const { data, error: problem } = await api.client.POST('/auth/sign-on', {
      body: { code, codeVerifier: begun.codeVerifier },
    });
    if (data === undefined) throw problem;
    return 'linkToken' in data ? { ...data, begun } : enter(data, begun);
  };
  // A query, and no effect: it runs once for a code, however often this is rendered.
  const finishing = useQuery({
    queryKey: ['sign-on', search.state],
    queryFn: finish,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

  if (finishing.data) {
    const { begun, ...login } = finishing.data;
    return <ConnectLogin {...login} onDone={(tokens) => enter(tokens, begun)} />;
  }
  return (
    <Stack gap="md">
      <Heading>Single sign-on</Heading>
      {finishing.isError ? (
        <>
          <ProblemNote error={finishing.error} title="Sign-in failed" />
          <AnchorLink to="/sign-in" size="sm">
            Back to sign-in
          </AnchorLink>
        </>
      ) : (
        <Loader aria-label="Signing in" />
      )}
    </Stack>
  );
};
