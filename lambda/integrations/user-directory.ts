import {
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminGetUserCommand,
  AdminSetUserPasswordCommand,
  AdminUpdateUserAttributesCommand,
  type AttributeType,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { ignoring } from '../domain/errors.ts';
import { SOFTWARE_TOKEN } from './authenticate.ts';
import { emailTaken, invalidPassword, mapErrors } from './cognito.ts';

export interface NewDirectoryUser {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly accountId: string;
  /** The address of a program gets no mail: Cognito sends no reset code to it. */
  readonly isProgram?: boolean;
}

export interface DirectoryUser {
  readonly userId: string;
  readonly accountId: string | undefined;
  readonly createdAt: Date;
  /** Log-ins need a code of an authenticator app. */
  readonly hasTotp: boolean;
}

/** Internal id of the account that the user was created for. The table, not this attribute, decides which account a user belongs to. */
const ACCOUNT_ATTRIBUTE = 'custom:accountId';

const attribute = (attributes: AttributeType[] | undefined, name: string): string | undefined =>
  attributes?.find(({ Name }) => Name === name)?.Value;

/** A Cognito client with timeouts, because the SDK has none by default. Three attempts fit into API Gateway's timeout. */
export const cognitoClient = (): CognitoIdentityProviderClient =>
  new CognitoIdentityProviderClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });

/**
 * The users of the user pool. AWS and emulators use different exceptions; both become the same mapErrors errors here.
 * The app client can neither read nor write the account attribute, so no token contains it.
 */
export const userDirectory = (cognito: CognitoIdentityProviderClient, userPoolId: string) => {
  const pool = { UserPoolId: userPoolId };

  return {
    /**
     * Creates a user who cannot log in yet.
     *
     * @returns the user id
     * @throws EmailTakenError
     */
    createUser: async ({
      email,
      firstName,
      lastName,
      accountId,
      isProgram = false,
    }: NewDirectoryUser): Promise<string> => {
      const { User } = await mapErrors(
        cognito.send(
          new AdminCreateUserCommand({
            ...pool,
            Username: email,
            MessageAction: 'SUPPRESS',
            UserAttributes: [
              { Name: 'email', Value: email },
              // Cognito sends reset codes to verified addresses only.
              { Name: 'email_verified', Value: String(!isProgram) },
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
      if (userId === undefined) throw new Error('The response of AdminCreateUser has no sub.');
      return userId;
    },

    /** @throws ValidationError if the pool's policy rejects the password */
    setPassword: async (userId: string, password: string): Promise<void> => {
      await mapErrors(
        cognito.send(
          new AdminSetUserPasswordCommand({ ...pool, Username: userId, Password: password, Permanent: true }),
        ),
        { InvalidPasswordException: invalidPassword('password') },
      );
    },

    /** Makes a proven address the user's. @throws EmailTakenError */
    changeEmail: async (userId: string, email: string): Promise<void> => {
      await mapErrors(
        cognito.send(
          new AdminUpdateUserAttributesCommand({
            ...pool,
            Username: userId,
            UserAttributes: [
              { Name: 'email', Value: email },
              { Name: 'email_verified', Value: 'true' },
            ],
          }),
        ),
        { AliasExistsException: emailTaken, UsernameExistsException: emailTaken },
      );
    },

    /** Deletes by user id, not by e-mail, because the address may belong to another user by now. Succeeds if there is no such user. */
    deleteUser: async (userId: string): Promise<void> => {
      await cognito
        .send(new AdminDeleteUserCommand({ ...pool, Username: userId }))
        .catch(ignoring('UserNotFoundException'));
    },

    findByEmail: async (email: string): Promise<DirectoryUser | undefined> => {
      const user = await cognito
        .send(new AdminGetUserCommand({ ...pool, Username: email }))
        .catch(ignoring('UserNotFoundException'));
      const userId = attribute(user?.UserAttributes, 'sub') ?? user?.Username;
      if (userId === undefined || user?.UserCreateDate === undefined) return undefined;
      return {
        userId,
        accountId: attribute(user.UserAttributes, ACCOUNT_ATTRIBUTE),
        createdAt: user.UserCreateDate,
        hasTotp: user.UserMFASettingList?.includes(SOFTWARE_TOKEN) ?? false,
      };
    },
  };
};

export type UserDirectory = ReturnType<typeof userDirectory>;
