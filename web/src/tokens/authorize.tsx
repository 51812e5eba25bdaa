import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import { clientWith } from '../../../lambda/domain/accounts/oauth-client.ts';
import { useApi, useMe } from '../app.ts';
import { ButtonLink, Page, Section, TextLink } from '../components/page.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';
import { firstTokenValues, sentToken, TokenFields } from './tokens.tsx';

export const Authorize = () => {
  const asked = getRouteApi('/members/authorize').useSearch();
  const { me, may } = useMe();
  const form = useForm({ initialValues: firstTokenValues });
  const authorize = useApi().useMutation('post', '/tokens/authorizations', {
    onSuccess: ({ redirectTo }) => window.location.assign(redirectTo),
  });
  const { client_id: clientId = '', redirect_uri: redirectUri = '', state } = asked;
  const client = clientWith(clientId);
  if (me === undefined || client === undefined || !URL.canParse(redirectUri) || !may('tokens:write'))
    return (
      <Page
        title="Connect a program"
        about={
          me &&
          (client && !may('tokens:write')
            ? `Your role ${me.user.role} makes no API tokens. An owner or admin can connect ${client.name}.`
            : 'This address is not complete. Begin again in the program that led you here.')
        }
      />
    );
  const { host } = new URL(redirectUri);
  return (
    <Page title={`Connect ${client.name}`} about={`The program calls itself ${client.name}. It is at ${host}.`}>
      <Section title="What it may read">
        <SubmitForm
          form={form}
          request={authorize}
          sent={(values) => ({
            body: {
              clientId,
              redirectUri,
              codeChallenge: asked.code_challenge ?? '',
              ...(state !== undefined && { state }),
              resource: asked.resource ?? '',
              ...sentToken(values),
            },
          })}
          failure={`${client.name} was not connected`}
          submit={`Let ${host} in`}
          otherButtons={
            <ButtonLink to="/" variant="default">
              Cancel
            </ButtonLink>
          }
          intro={
            <Text size="sm">
              It reads spend, requests and limits of the account of {me.user.email} as the role says, and changes
              nothing. Agree only if you began this at {host}. It is one of the{' '}
              <TextLink to="/tokens">API tokens</TextLink> then, where you can revoke it.
            </Text>
          }
        >
          <TokenFields form={form} />
        </SubmitForm>
      </Section>
    </Page>
  );
};
