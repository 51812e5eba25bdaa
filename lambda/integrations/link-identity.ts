import {
  AdminLinkProviderForUserCommand,
  type CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import type { Person } from './sign-on.ts';

/**
 * Connects a person of an identity provider with a user: from the next sign-in on, tokens are that user's. The user that a sign-in of the
 * person made must be deleted before, because Cognito connects only people whom it does not know.
 *
 * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminLinkProviderForUser.html
 */
export const identityLinker =
  (cognito: CognitoIdentityProviderClient, userPoolId: string) =>
  async (userId: string, { provider, subject }: Pick<Person, 'provider' | 'subject'>): Promise<void> => {
    await cognito.send(
      new AdminLinkProviderForUserCommand({
        UserPoolId: userPoolId,
        DestinationUser: { ProviderName: 'Cognito', ProviderAttributeValue: userId },
        SourceUser: {
          ProviderName: provider,
          ProviderAttributeName: 'Cognito_Subject',
          ProviderAttributeValue: subject,
        },
      }),
    );
  };

export type LinkIdentity = ReturnType<typeof identityLinker>;
