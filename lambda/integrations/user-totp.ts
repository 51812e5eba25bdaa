import {
  AdminSetUserMFAPreferenceCommand,
  AssociateSoftwareTokenCommand,
  type CognitoIdentityProviderClient,
  VerifySoftwareTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { invalid } from '../domain/errors.ts';
import type { Authenticate } from './authenticate.ts';
import { mapErrors, wrongCredentials } from './cognito.ts';

const wrongCode = () => invalid('totp', 'The code is wrong. Send the one that the authenticator app shows now.');

/** Second factors of the user pool's users: codes of an authenticator app. Each call proves the password, and needs no session. */
export const userTotp = (cognito: CognitoIdentityProviderClient, userPoolId: string, authenticate: Authenticate) => {
  const accessTokenOf = async (username: string, password: string): Promise<string> => {
    const { AccessToken } = await authenticate(username, password);
    if (AccessToken === undefined) throw wrongCredentials();
    return AccessToken;
  };
  const prefer = async (username: string, isEnabled: boolean): Promise<void> => {
    await cognito.send(
      new AdminSetUserMFAPreferenceCommand({
        UserPoolId: userPoolId,
        Username: username,
        SoftwareTokenMfaSettings: { Enabled: isEnabled, PreferredMfa: isEnabled },
      }),
    );
  };
  return {
    /**
     * A new secret, in base32. It replaces an unconfirmed secret.
     *
     * @throws InvalidCredentialsError, TotpRequiredError if the user has a second factor
     */
    begin: async (email: string, password: string): Promise<string> => {
      const AccessToken = await accessTokenOf(email, password);
      const { SecretCode } = await cognito.send(new AssociateSoftwareTokenCommand({ AccessToken }));
      if (SecretCode === undefined) throw new Error('The response of AssociateSoftwareToken has no secret.');
      return SecretCode;
    },

    /** @throws InvalidCredentialsError, ValidationError for a wrong code */
    confirm: async (email: string, password: string, code: string): Promise<void> => {
      const AccessToken = await accessTokenOf(email, password);
      const { Status } = await mapErrors(
        cognito.send(new VerifySoftwareTokenCommand({ AccessToken, UserCode: code })),
        {
          EnableSoftwareTokenMFAException: wrongCode,
          CodeMismatchException: wrongCode,
          InvalidParameterException: wrongCode,
        },
      );
      if (Status !== 'SUCCESS') throw wrongCode();
      await prefer(email, true);
    },

    /** Turns the second factor off, without a check: call `authenticate` before. @param username user id or e-mail address */
    remove: (username: string): Promise<void> => prefer(username, false),
  };
};
