import {
  AdminInitiateAuthCommand,
  AdminUserGlobalSignOutCommand,
  type AuthenticationResultType,
  type CognitoIdentityProviderClient,
  ConfirmForgotPasswordCommand,
  ForgotPasswordCommand,
  RevokeTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import * as z from 'zod/mini';
import { UnauthenticatedError } from '../domain/errors.ts';
import { named, nameOf, refusedPassword, wrongCode, wrongCredentials } from './cognito-errors.ts';

/** Tokens of a user who has proved who they are. */
export interface Session {
  readonly userId: string;
  /** The ID token: what the dashboard API takes. */
  readonly token: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** Cognito's default, and what it means when its answer leaves it out. */
const DEFAULT_EXPIRES_IN_SECONDS = 3600;

const claimsSchema = z.object({ sub: z.string() });

const NO_SUCH_SESSION: ReadonlySet<string> = new Set([
  'NotAuthorizedException',
  'UnauthorizedException',
  'UnsupportedTokenTypeException',
  'InvalidParameterException',
]);

/** Log-ins of the user pool's users, and what leads to one: the password. */
export const userSessions = (cognito: CognitoIdentityProviderClient, userPoolId: string, clientId: string) => {
  const pool = { UserPoolId: userPoolId };

  const sessionOf = (result: AuthenticationResultType | undefined, previousRefreshToken?: string): Session => {
    const { IdToken: token, RefreshToken: refreshToken = previousRefreshToken, ExpiresIn } = result ?? {};
    // No tokens but a challenge (a new password demanded, say): this API has no step for it, resetting the password has.
    if (token === undefined || refreshToken === undefined) throw wrongCredentials();
    const { data: claims } = claimsSchema.safeParse(decomposeUnverifiedJwt(token).payload);
    if (claims === undefined) throw wrongCredentials();
    return {
      userId: claims.sub,
      token,
      refreshToken,
      expiresIn: ExpiresIn ?? DEFAULT_EXPIRES_IN_SECONDS,
    };
  };

  return {
    /** @throws InvalidCredentialsError for an unknown e-mail as for a wrong password */
    logIn: async (email: string, password: string): Promise<Session> => {
      const { AuthenticationResult } = await named(
        cognito.send(
          new AdminInitiateAuthCommand({
            ...pool,
            ClientId: clientId,
            AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
            AuthParameters: { USERNAME: email, PASSWORD: password },
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
      return sessionOf(AuthenticationResult);
    },

    /** @throws UnauthenticatedError */
    refresh: async (refreshToken: string): Promise<Session> => {
      const expired = () => new UnauthenticatedError('The refresh token is invalid or has expired. Log in again.');
      const { AuthenticationResult } = await named(
        cognito.send(
          new AdminInitiateAuthCommand({
            ...pool,
            ClientId: clientId,
            AuthFlow: 'REFRESH_TOKEN_AUTH',
            AuthParameters: { REFRESH_TOKEN: refreshToken },
          }),
        ),
        { NotAuthorizedException: expired, UserNotFoundException: expired, InvalidParameterException: expired },
      );
      return sessionOf(AuthenticationResult, refreshToken);
    },

    /**
     * Ends one session: its refresh token works no more. Says nothing where there is no such session.
     * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_RevokeToken.html
     */
    end: async (refreshToken: string): Promise<void> => {
      try {
        await named(cognito.send(new RevokeTokenCommand({ ClientId: clientId, Token: refreshToken })), {});
      } catch (error) {
        if (!NO_SUCH_SESSION.has(nameOf(error))) throw error;
      }
    },

    /** Mails a reset code where there is such a user, and says nothing where there is not. */
    sendResetCode: async (email: string): Promise<void> => {
      try {
        await named(cognito.send(new ForgotPasswordCommand({ ClientId: clientId, Username: email })), {});
      } catch (error) {
        if (!['UserNotFoundException', 'InvalidParameterException', 'NotAuthorizedException'].includes(nameOf(error))) {
          throw error;
        }
      }
    },

    /** @throws ValidationError for a wrong or expired code, or a refused password */
    resetPassword: async (email: string, code: string, newPassword: string): Promise<void> => {
      await named(
        cognito.send(
          new ConfirmForgotPasswordCommand({
            ClientId: clientId,
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
          InvalidPasswordException: refusedPassword('newPassword'),
        },
      );
    },

    /**
     * Ends every session: no refresh token given so far works any more. ID tokens are checked without asking Cognito, and so
     * stay good until they expire.
     * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminUserGlobalSignOut.html
     */
    endSessions: async (email: string): Promise<void> => {
      await named(cognito.send(new AdminUserGlobalSignOutCommand({ ...pool, Username: email })), {});
    },
  };
};

export type UserSessions = ReturnType<typeof userSessions>;
