import {
  AdminInitiateAuthCommand,
  AdminRespondToAuthChallengeCommand,
  type AuthenticationResultType,
  type CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { TotpRequiredError } from '../domain/errors.ts';
import { type AppClient, mapErrors, wrongCredentials } from './cognito.ts';

/** Cognito's name of the one kind of second factor here: codes of an authenticator app. */
export const SOFTWARE_TOKEN = 'SOFTWARE_TOKEN_MFA';

const wrongCode = () =>
  new TotpRequiredError(
    'The code is wrong, or was used already. Wait for the next one that your authenticator app shows.',
  );

/** Credentials of a user. @param username user id or e-mail address */
export type Authenticate = (
  username: string,
  password: string,
  totp?: string | undefined,
) => Promise<AuthenticationResultType>;

/**
 * Checks a password, and the code of the second factor where the user has one.
 *
 * @throws InvalidCredentialsError for an unknown user and for a wrong password alike
 * @throws TotpRequiredError if the password is right, and the code is missing or wrong
 */
export const authenticator =
  (cognito: CognitoIdentityProviderClient, userPoolId: string, client: AppClient): Authenticate =>
  async (username, password, totp) => {
    const pool = { UserPoolId: userPoolId, ClientId: client.id };
    const { AuthenticationResult, ChallengeName, ChallengeParameters, Session } = await mapErrors(
      cognito.send(
        new AdminInitiateAuthCommand({
          ...pool,
          AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
          AuthParameters: { USERNAME: username, PASSWORD: password, SECRET_HASH: await client.secretHash(username) },
        }),
      ),
      {
        NotAuthorizedException: wrongCredentials,
        UserNotFoundException: wrongCredentials,
        UserNotConfirmedException: wrongCredentials,
        PasswordResetRequiredException: wrongCredentials,
        InvalidPasswordException: wrongCredentials,
      },
    );
    if (AuthenticationResult !== undefined) return AuthenticationResult;
    // Any other challenge, such as a required new password, has no step in this API; a password reset resolves it.
    if (ChallengeName !== SOFTWARE_TOKEN) throw wrongCredentials();
    if (totp === undefined) throw new TotpRequiredError('Send the code that your authenticator app shows as totp.');
    const USERNAME = ChallengeParameters?.['USER_ID_FOR_SRP'] ?? username;
    const response = await mapErrors(
      cognito.send(
        new AdminRespondToAuthChallengeCommand({
          ...pool,
          ChallengeName,
          Session,
          ChallengeResponses: {
            USERNAME,
            SOFTWARE_TOKEN_MFA_CODE: totp,
            SECRET_HASH: await client.secretHash(USERNAME),
          },
        }),
      ),
      { CodeMismatchException: wrongCode, ExpiredCodeException: wrongCode, NotAuthorizedException: wrongCode },
    );
    if (response.AuthenticationResult === undefined) throw wrongCredentials();
    return response.AuthenticationResult;
  };
