import { Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { Loaded, Page, TextLink } from '../components/page.tsx';

/** After a password reset: the keys and API tokens that somebody else may have made. */
export const Review = () => {
  const api = useApi();
  const navigate = useNavigate();
  const query = api.useQuery('get', '/auth/review');
  const finish = api.useMutation('delete', '/auth/review', {
    onSuccess: () => navigate({ to: '/' }),
    meta: { failure: 'The review was not finished' },
  });
  return (
    <Page title="Review recent keys">
      <Loaded query={query} title="The recent keys could not be loaded" height={120}>
        {({ since, keys, tokens }) =>
          since === null ? (
            <p className="dim">
              There is nothing to review. All keys are on the page <TextLink to="/keys">Keys</TextLink>.
            </p>
          ) : (
            <Stack gap="md" maw={640} align="flex-start">
              <Text size="sm">
                Your password or address changed. If somebody else was signed in before, these keys and API tokens may
                be theirs, and they still work. Revoke those you do not know on the pages{' '}
                <TextLink to="/keys">Keys</TextLink> and <TextLink to="/tokens">API tokens</TextLink>.
              </Text>
              {keys.length + tokens.length === 0 && (
                <Text size="sm">
                  None was made since <Instant iso={since} />.
                </Text>
              )}
              <ul>
                {[...keys, ...tokens].map(({ id, name, createdAt, lastUsedAt, ...made }) => (
                  <li key={id}>
                    <strong>{name}</strong>{' '}
                    <span className="mono">{'maskedKey' in made ? made.maskedKey : made.maskedToken}</span>, made{' '}
                    <Instant iso={createdAt} />, {lastUsedAt ? 'last used ' : 'never used'}
                    {lastUsedAt && <Instant iso={lastUsedAt} />}
                  </li>
                ))}
              </ul>
              <ActButton size="sm" variant="filled" label="I know all of these" act={finish} sent={{}} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
};
