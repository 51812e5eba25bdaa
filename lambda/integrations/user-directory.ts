import {
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminGetUserCommand,
  AdminSetUserPasswordCommand,
  type AttributeType,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { emailTaken, named, nameOf, refusedPassword } from './cognito-errors.ts';

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

/** Internal id of the account a user was made for. Whom a user belongs to is what the table says. */
const ACCOUNT_ATTRIBUTE = 'custom:accountId';

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
 * The app client can neither read nor write the account attribute, so no token carries it.
 */
export const userDirectory = (cognito: CognitoIdentityProviderClient, userPoolId: string) => {
  const pool = { UserPoolId: userPoolId };

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
  };
};

export type UserDirectory = ReturnType<typeof userDirectory>;
