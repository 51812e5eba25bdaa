import {
  AdminUserGlobalSignOutCommand,
  type AuthenticationResultType,
  type CognitoIdentityProviderClient,
  ConfirmForgotPasswordCommand,
  ForgotPasswordCommand,
  GetTokensFromRefreshTokenCommand,
  RevokeTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import * as z from 'zod/mini';
import { ignoring, nameOf, UnauthenticatedError } from '../domain/errors.ts';
import { authenticator } from './authenticate.ts';
import { type AppClient, invalidPassword, mapErrors, wrongCode, wrongCredentials } from './cognito.ts';

/** Tokens of an authenticated user. */
export interface Session {
  readonly userId: string;
  /** The ID token, which the dashboard API accepts. */
  readonly token: string;
  readonly refreshToken: string;
  /** Lifetime of the token in seconds. */
  readonly expiresIn: number;
  /** When the user signed in, in seconds since 1970. A token that was refreshed keeps it. */
  readonly authTime: number;
}

/** Cognito's default. Applies if its response does not contain the lifetime. */
const DEFAULT_EXPIRES_IN_SECONDS = 3600;

const claimsSchema = z.object({ sub: z.string(), auth_time: z.int() });

const NO_SUCH_SESSION = [
  'NotAuthorizedException',
  'UnauthorizedException',
  'UnsupportedTokenTypeException',
  'InvalidParameterException',
];

const NO_RESET_CODE: ReadonlySet<string> = new Set([
  'UserNotFoundException',
  'InvalidParameterException',
  'NotAuthorizedException',
  'CodeDeliveryFailureException',
  'InvalidEmailRoleAccessPolicyException',
  'LimitExceededException',
]);

/** Sessions of the user pool's users, and their passwords. */
export const userSessions = (cognito: CognitoIdentityProviderClient, userPoolId: string, client: AppClient) => {
  const pool = { UserPoolId: userPoolId };
  const authenticate = authenticator(cognito, userPoolId, client);

  const sessionOf = (result: AuthenticationResultType | undefined, previousRefreshToken?: string): Session => {
    const { IdToken: token, RefreshToken: refreshToken = previousRefreshToken, ExpiresIn } = result ?? {};
    if (token === undefined || refreshToken === undefined) throw wrongCredentials();
    const { data: claims } = claimsSchema.safeParse(decomposeUnverifiedJwt(token).payload);
    if (claims === undefined) throw wrongCredentials();
    return {
      userId: claims.sub,
      token,
      refreshToken,
      expiresIn: ExpiresIn ?? DEFAULT_EXPIRES_IN_SECONDS,
      authTime: claims.auth_time,
    };
  };

  return {
    /**
     * @param email or user id
     * @throws InvalidCredentialsError, TotpRequiredError
     */
    logIn: async (email: string, password: string, totp?: string): Promise<Session> =>
      sessionOf(await authenticate(email, password, totp)),

    /**
     * Not by AdminInitiateAuth, which asks for a hash of the secret with the user's id: a refresh token does not show it.
     *
     * @throws UnauthenticatedError
     */
    refresh: async (refreshToken: string): Promise<Session> => {
      const expired = () => new UnauthenticatedError('The refresh token is invalid or has expired. Log in again.');
      const { AuthenticationResult } = await mapErrors(
        cognito.send(
          new GetTokensFromRefreshTokenCommand({
            ClientId: client.id,
            ClientSecret: await client.secret(),
            RefreshToken: refreshToken,
          }),
        ),
        { NotAuthorizedException: expired, UserNotFoundException: expired, InvalidParameterException: expired },
      );
      return sessionOf(AuthenticationResult, refreshToken);
    },

    /**
     * Ends one session by revoking its refresh token. Succeeds if there is no such session.
     * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_RevokeToken.html
     */
    end: async (refreshToken: string): Promise<void> => {
      const ClientSecret = await client.secret();
      const revoking = cognito.send(new RevokeTokenCommand({ ClientId: client.id, ClientSecret, Token: refreshToken }));
      await mapErrors(revoking, {}).catch(ignoring(...NO_SUCH_SESSION));
    },

    /** Mails a reset code. @returns why there is none, which nobody may learn but the operator: it says whether there is a user */
    sendResetCode: async (email: string): Promise<string | undefined> => {
      const SecretHash = await client.secretHash(email);
      const sending = cognito.send(new ForgotPasswordCommand({ ClientId: client.id, SecretHash, Username: email }));
      const problemOf = (error: unknown): string => {
        if (NO_RESET_CODE.has(nameOf(error))) return nameOf(error);
        throw error;
      };
      const sent = sending.then(() => undefined, problemOf);
      return mapErrors(sent, {});
    },

    /** @throws ValidationError for a wrong or expired code, or an invalid password */
    resetPassword: async (email: string, code: string, newPassword: string): Promise<void> => {
      await mapErrors(
        cognito.send(
          new ConfirmForgotPasswordCommand({
            ClientId: client.id,
            SecretHash: await client.secretHash(email),
            Username: email,
            ConfirmationCode: code,
            Password: newPassword,
          }),
        ),
        {
          CodeMismatchException: wrongCode,
          ExpiredCodeException: wrongCode,
          UserNotFoundException: wrongCode,
          NotAuthorizedException: wrongCode,
          InvalidPasswordException: invalidPassword('newPassword'),
        },
      );
    },

    /**
     * Ends all sessions of a user by revoking their refresh tokens. ID tokens are verified without a call to Cognito: for them, the
     * user's item has the time before which no sign-in counts.
     *
     * @param username user id or e-mail address
     * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminUserGlobalSignOut.html
     */
    endSessions: async (username: string): Promise<void> => {
      await mapErrors(cognito.send(new AdminUserGlobalSignOutCommand({ ...pool, Username: username })), {});
    },
  };
};
