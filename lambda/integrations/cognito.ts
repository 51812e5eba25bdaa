import { createHmac } from 'node:crypto';
import {
  type CognitoIdentityProviderClient,
  DescribeUserPoolClientCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { PASSWORD_RULES } from '../domain/accounts/passwords.ts';
import { EmailTakenError, InvalidCredentialsError, invalid, nameOf, RateLimitedError } from '../domain/errors.ts';

/**
 * The confidential app client. Cognito's public API refuses whoever does not know its secret, so a stolen refresh token or password is
 * of use only here, where sessions can be ended and attempts are limited.
 */
export interface AppClient {
  readonly id: string;
  readonly secret: () => Promise<string>;
  /** Proof of the secret in a call about a user. @see https://docs.aws.amazon.com/cognito/latest/developerguide/signing-up-users-in-your-app.html#cognito-user-pools-computing-secret-hash */
  readonly secretHash: (username: string) => Promise<string>;
}

/**
 * Reads the secret from the pool, once for each process and when it is first needed. So there is no copy of it to keep, to leak or to
 * rotate.
 */
export const appClient = (cognito: CognitoIdentityProviderClient, userPoolId: string, id: string): AppClient => {
  let reading: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    const { UserPoolClient } = await cognito.send(
      new DescribeUserPoolClientCommand({ UserPoolId: userPoolId, ClientId: id }),
    );
    if (UserPoolClient?.ClientSecret === undefined) throw new Error('The app client has no secret.');
    return UserPoolClient.ClientSecret;
  };
  const secret = (): Promise<string> => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  return {
    id,
    secret,
    secretHash: async (username) =>
      createHmac('sha256', await secret())
        .update(username + id)
        .digest('base64'),
  };
};

/** Turns Cognito's exceptions into domain errors, by name. `byName` has those of this call; too many attempts are always RateLimitedError. */
export const mapErrors = async <T>(work: Promise<T>, byName: Readonly<Record<string, () => Error>>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const name = nameOf(error);
    if (['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException'].includes(name)) {
      throw new RateLimitedError('Too many attempts. Try again in a few minutes.');
    }
    throw byName[name]?.() ?? error;
  }
};

export const emailTaken = () =>
  new EmailTakenError('A user with this e-mail address already exists. Log in, or reset the password.');
export const wrongCredentials = () => new InvalidCredentialsError();
export const invalidPassword = (path: string) => () => invalid(path, PASSWORD_RULES);
export const wrongCode = () => invalid('code', 'The code is wrong or has expired. Ask for another one.');
