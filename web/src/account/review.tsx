import { Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { TextLink } from '../components/links.tsx';
import { LoadProblem, PageHead } from '../components/page.tsx';

/** After a password reset: the keys and API tokens that somebody else may have made. */
export const Review = () => {
  const api = useApi();
  const navigate = useNavigate();
  const query = api.useQuery('get', '/auth/review');
  const { data } = query;
  const made = data
    ? [
        ...data.keys.map(({ maskedKey: masked, ...key }) => ({ ...key, masked })),
        ...data.tokens.map(({ maskedToken: masked, ...token }) => ({ ...token, masked })),
      ]
    : [];
  const finish = api.useMutation('delete', '/auth/review', {
    onSuccess: () => navigate({ to: '/' }),
    meta: { failure: 'The review was not finished' },
  });
  return (
    <div className="page">
      <PageHead title="Review recent keys" />
      <LoadProblem query={query} title="It could not be loaded" />
      {data && data.since === null && (
        <p className="dim">
          There is nothing to review. All keys are on the page <TextLink to="/keys">Keys</TextLink>.
        </p>
      )}
      {data && data.since !== null && (
        <Stack gap="md" maw={640} align="flex-start">
          <Text size="sm">
            Your password or address changed. If somebody else was signed in before, these keys and API tokens may be
            theirs, and they still work. Revoke those you do not know on the pages <TextLink to="/keys">Keys</TextLink>{' '}
            and <TextLink to="/tokens">API tokens</TextLink>.
          </Text>
          {made.length === 0 && (
            <Text size="sm">
              None was made since <Instant iso={data.since} />.
            </Text>
          )}
          <ul>
            {made.map(({ id, name, masked, createdAt, lastUsedAt }) => (
              <li key={id}>
                <strong>{name}</strong> <span className="mono">{masked}</span>, made <Instant iso={createdAt} />,{' '}
                {lastUsedAt === null ? (
                  'never used'
                ) : (
                  <>
                    last used <Instant iso={lastUsedAt} />
                  </>
                )}
              </li>
            ))}
          </ul>
          <ActButton size="sm" variant="filled" label="I know all of these" act={finish} sent={{}} />
        </Stack>
      )}
    </div>
  );
};
