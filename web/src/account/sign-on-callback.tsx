import { Loader, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { problemOf } from '../api/problem.ts';
import { useApp } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { beginSignOn, takeBegunSignOn } from '../session/sign-on.ts';
import { nextOf, type SignOnCallbackSearch } from './search.ts';

const failure = (message: string) => ({ error: { code: 'SIGN_ON', message } });

const NOT_BEGUN = failure('This sign-in was not begun in this tab, or was finished already. Begin again.');

/** Identity providers lead back here, with a code or an error. */
export const SignOnCallback = () => {
  const { session, api } = useApp();
  const router = useRouter();
  const search: SignOnCallbackSearch = getRouteApi('/visitors/sign-in/callback').useSearch();

  const finish = async (): Promise<null> => {
    const { code, state, error, error_description: why } = search;
    const begun = takeBegunSignOn(state);
    if (begun === undefined) throw NOT_BEGUN;
    if (code === undefined) throw failure(why ?? error ?? 'The identity provider sent no code.');
    const { data, error: problem } = await api.client.POST('/auth/sign-on', {
      body: { code, codeVerifier: begun.codeVerifier },
    });
    // The login is connected with the provider now: the same person signs in again, without a question.
    if (problemOf(problem).code === 'CONFLICT' && !begun.isSecond) await beginSignOn({ ...begun, isSecond: true });
    else if (data === undefined) throw problem;
    else {
      session.begin(data);
      await router.navigate({ href: nextOf(begun), replace: true });
    }
    return null;
  };
  // A query, and no effect: it runs once for a code, however often this is rendered.
  const finishing = useQuery({
    queryKey: ['sign-on', search.state],
    queryFn: finish,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

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
