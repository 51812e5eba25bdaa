import {
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminGetUserCommand,
  AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand,
  AdminUserGlobalSignOutCommand,
  type AttributeType,
  type AuthenticationResultType,
  CognitoIdentityProviderClient,
  ConfirmForgotPasswordCommand,
  ForgotPasswordCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import * as z from 'zod';
import { UnauthenticatedError } from '../domain/errors.ts';
import { emailTaken, named, nameOf, refusedPassword, wrongCode, wrongCredentials } from './cognito-errors.ts';

/** Tokens of a user who has proved who they are. */
export interface Session {
  readonly accountId: string;
  readonly userId: string;
  /** The ID token: what the dashboard API takes. */
  readonly token: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface NewDirectoryUser {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly accountId: string;
}

export interface DirectoryUser {
  readonly userId: string;
  readonly accountId: string | undefined;
  readonly createdAt: Date;
}

/** Cognito's default, and what it means when its answer leaves it out. */
const DEFAULT_EXPIRES_IN_SECONDS = 3600;

const ACCOUNT_ATTRIBUTE = 'custom:accountId';

const claimsSchema = z.object({ sub: z.string(), [ACCOUNT_ATTRIBUTE]: z.string() });

const attribute = (attributes: AttributeType[] | undefined, name: string): string | undefined =>
  attributes?.find(({ Name }) => Name === name)?.Value;

/** Cognito with bounds: the SDK waits for ever unless told otherwise. Three attempts fit what API Gateway waits for. */
export const cognitoClient = (): CognitoIdentityProviderClient =>
  new CognitoIdentityProviderClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });

/**
 * The user pool. It differs between AWS and emulators in which exception says what; here both become the same named errors.
 * The account attribute is written here alone: the app client may not write it.
 */
export const userDirectory = (cognito: CognitoIdentityProviderClient, userPoolId: string, clientId: string) => {
  const pool = { UserPoolId: userPoolId };

  const sessionOf = (result: AuthenticationResultType | undefined, previousRefreshToken?: string): Session => {
    const { IdToken: token, RefreshToken: refreshToken = previousRefreshToken, ExpiresIn } = result ?? {};
    // No tokens but a challenge (a new password demanded, say): this API has no step for it, resetting the password has.
    if (token === undefined || refreshToken === undefined) throw wrongCredentials();
    const { data: claims } = claimsSchema.safeParse(decomposeUnverifiedJwt(token).payload);
    // A user that somebody made in the pool by hand, without an account.
    if (claims === undefined) throw wrongCredentials();
    return {
      accountId: claims[ACCOUNT_ATTRIBUTE],
      userId: claims.sub,
      token,
      refreshToken,
      expiresIn: ExpiresIn ?? DEFAULT_EXPIRES_IN_SECONDS,
    };
  };

  return {
    /**
     * Makes a user who cannot log in yet, and gives the user id.
     *
     * @throws EmailTakenError
     */
    createUser: async ({ email, firstName, lastName, accountId }: NewDirectoryUser): Promise<string> => {
      const { User } = await named(
        cognito.send(
          new AdminCreateUserCommand({
            ...pool,
            Username: email,
            MessageAction: 'SUPPRESS',
            UserAttributes: [
              { Name: 'email', Value: email },
              // Without it Cognito sends no reset codes to the address.
              { Name: 'email_verified', Value: 'true' },
              { Name: 'given_name', Value: firstName },
              { Name: 'family_name', Value: lastName },
              { Name: ACCOUNT_ATTRIBUTE, Value: accountId },
            ],
          }),
        ),
        {
          UsernameExistsException: emailTaken,
        },
      );
      const userId = attribute(User?.Attributes, 'sub');
      if (userId === undefined) throw new Error('AdminCreateUser answered without a sub');
      return userId;
    },

    /** @throws ValidationError where the pool's policy refuses the password */
    setPassword: async (userId: string, password: string): Promise<void> => {
      await named(
        cognito.send(
          new AdminSetUserPasswordCommand({ ...pool, Username: userId, Password: password, Permanent: true }),
        ),
        { InvalidPasswordException: refusedPassword('password') },
      );
    },

    /** By user id, never by e-mail: the address may meanwhile be another user's. Nobody to delete is no error. */
    deleteUser: async (userId: string): Promise<void> => {
      try {
        await cognito.send(new AdminDeleteUserCommand({ ...pool, Username: userId }));
      } catch (error) {
        if (nameOf(error) !== 'UserNotFoundException') throw error;
      }
    },

    findByEmail: async (email: string): Promise<DirectoryUser | undefined> => {
      try {
        const user = await cognito.send(new AdminGetUserCommand({ ...pool, Username: email }));
        const userId = attribute(user.UserAttributes, 'sub') ?? user.Username;
        if (userId === undefined || user.UserCreateDate === undefined) return undefined;
        return {
          userId,
          accountId: attribute(user.UserAttributes, ACCOUNT_ATTRIBUTE),
          createdAt: user.UserCreateDate,
        };
      } catch (error) {
        if (nameOf(error) === 'UserNotFoundException') return undefined;
        throw error;
      }
    },

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

export type UserDirectory = ReturnType<typeof userDirectory>;
