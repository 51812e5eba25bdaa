import { createHmac, createPrivateKey, createPublicKey, createSign, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import {
  CodeMismatchError,
  ExpiredCodeError,
  InvalidParameterError,
  NotAuthorizedError,
  UserNotFoundError,
  UsernameExistsError,
} from 'cognito-local/lib/errors.js';
import type { Router } from 'cognito-local/lib/server/Router.js';
import type { Services } from 'cognito-local/lib/services/index.js';
import { verify } from 'cognito-local/lib/services/totp.js';
import { writeFileAtomically } from './atomic-file.ts';

const KEY_ID = 'CognitoLocal';

/** The key pair that tokens of a data folder are signed with. */
interface SigningKey {
  readonly pem: string;
  /** The public half, as a JSON web key. */
  readonly jwk: object;
  /** The same token with other claims, signed again. */
  withClaims(token: string, claims: object): string;
}

/** Reads the key pair of a file that only this user may read, or makes it. */
export const openSigningKey = (file: string): SigningKey => {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    writeFileAtomically(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600);
  }
  const pem = readFileSync(file, 'utf8');
  const publicKey = createPublicKey(createPrivateKey(pem));
  return {
    pem,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' },
    withClaims: (token, claims) => {
      const [header] = token.split('.');
      const changed = { ...claimsOf(token), ...claims };
      const signed = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
      return `${signed}.${createSign('RSA-SHA256').update(signed).sign(pem, 'base64url')}`;
    },
  };
};

/** Claims of a token, unchecked. */
const claimsOf = (token: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

type Route = ReturnType<Router>;
type Context = Parameters<Route>[0];

interface Request {
  readonly UserPoolId: string;
  readonly ClientId: string;
  readonly ClientSecret?: string;
  readonly SecretHash?: string;
  readonly Username: string;
  readonly ConfirmationCode?: string;
  readonly RefreshToken: string;
  readonly AuthFlow?: string;
  readonly AuthParameters?: Readonly<Record<string, string>>;
  readonly ChallengeResponses?: Readonly<Record<string, string>>;
  readonly Session?: string;
  readonly UserAttributes?: readonly { readonly Name: string; readonly Value?: string }[];
  readonly DestinationUser?: { readonly ProviderAttributeValue?: string };
  readonly SoftwareTokenMfaSettings?: { readonly Enabled?: boolean };
}

const MAX_USERNAME = 128;
const SOFTWARE_TOKEN = 'SOFTWARE_TOKEN_MFA';
/** Steps of 30 s: its own, the one before and the one after. */
const CODE_VALID_MS = 90_000;

/** Calls that prove the client's secret. */
const PROVING =
  /^((Admin)?InitiateAuth|AdminRespondToAuthChallenge|(Confirm)?ForgotPassword|SignUp|GetTokensFromRefreshToken|RevokeToken)$/;
/** Calls that anybody may make, since they bring a token, a code or the client's secret; and the public keys. */
const UNSIGNED =
  /\.(AssociateSoftwareToken|VerifySoftwareToken|(Confirm)?ForgotPassword|GetTokensFromRefreshToken|RevokeToken)$/;
export const isUnsignedOnAws = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' ? url.endsWith('/.well-known/jwks.json') : UNSIGNED.test(String(headers['x-amz-target']));

/** Adds what cognito-local lacks of the Cognito that this project uses. */
export const missingOperations = (
  { cognito, tokenGenerator }: Pick<Services, 'cognito' | 'tokenGenerator'>,
  route: Router,
  signingKey: SigningKey,
) => {
  const takenCodes = new Map<string, number>();
  /** Each code of a user counts once: it may not have been taken within the time for which it is valid. */
  const takeCode = (user: string, code: string): void => {
    for (const [taken, atMs] of takenCodes) if (atMs < Date.now() - CODE_VALID_MS) takenCodes.delete(taken);
    const name = `${user} ${code}`;
    if (takenCodes.has(name)) throw new ExpiredCodeError();
    takenCodes.set(name, Date.now());
  };
  const found = async (context: Context, { UserPoolId, Username }: Pick<Request, 'UserPoolId' | 'Username'>) => {
    const pool = await cognito.getUserPool(context, UserPoolId);
    const user = await pool.getUserByUsername(context, Username);
    if (!user) throw new UserNotFoundError();
    return { pool, user };
  };
  const tokens = async (context: Context, clientId: string, username: string) => {
    const client = await cognito.getAppClient(context, clientId);
    const pool = await cognito.getUserPoolForClientId(context, clientId);
    const user = await pool.getUserByUsername(context, username);
    if (!client || !user) throw new NotAuthorizedError();
    const groups = await pool.listUserGroupMembership(context, user);
    const made = await tokenGenerator.generate(context, user, groups, client, undefined, 'Authentication');
    return { pool, user, made };
  };

  const operations: Readonly<Record<string, (context: Context, request: Request) => Promise<object>>> = {
    /** A user's refresh tokens are forgotten. */
    AdminUserGlobalSignOut: async (context, request) => {
      const { pool, user } = await found(context, request);
      await pool.saveUser(context, { ...user, RefreshTokens: [] });
      return {};
    },

    GetTokensFromRefreshToken: async (context, { ClientId, RefreshToken }) => {
      const pool = await cognito.getUserPoolForClientId(context, ClientId);
      const user = await pool.getUserByRefreshToken(context, RefreshToken);
      if (!user) throw new NotAuthorizedError();
      const { made } = await tokens(context, ClientId, user.Username);
      // A refresh token is made at the log-in.
      const { iat: auth_time } = claimsOf(RefreshToken);
      const renewed = (token: string) => signingKey.withClaims(token, { auth_time });
      return { AuthenticationResult: { AccessToken: renewed(made.AccessToken), IdToken: renewed(made.IdToken) } };
    },

    /** The password first. Then, with a second factor, a challenge instead of tokens. */
    AdminInitiateAuth: async (context, request) => {
      const result = await route('AdminInitiateAuth')(context, request);
      if (request.AuthFlow !== 'ADMIN_USER_PASSWORD_AUTH') return result;
      const Username = request.AuthParameters?.['USERNAME'] ?? '';
      const { pool, user } = await found(context, { ...request, Username });
      if (!user.UserMFASettingList?.includes(SOFTWARE_TOKEN)) return result;
      const RefreshTokens = user.RefreshTokens.filter((token) => token !== result.AuthenticationResult?.RefreshToken);
      await pool.saveUser(context, { ...user, RefreshTokens });
      return {
        ChallengeName: SOFTWARE_TOKEN,
        ChallengeParameters: { USER_ID_FOR_SRP: user.Username },
        Session: `session-of-${user.Username}`,
      };
    },

    AdminRespondToAuthChallenge: async (context, { ClientId, ChallengeResponses = {}, Session }) => {
      const { USERNAME = '', SOFTWARE_TOKEN_MFA_CODE = '' } = ChallengeResponses;
      const { pool, user, made } = await tokens(context, ClientId, USERNAME);
      if (Session !== `session-of-${user.Username}`) throw new NotAuthorizedError();
      if (!verify(user.SoftwareTokenMfaConfiguration?.Secret ?? '', SOFTWARE_TOKEN_MFA_CODE))
        throw new CodeMismatchError();
      takeCode(user.Username, SOFTWARE_TOKEN_MFA_CODE);
      await pool.storeRefreshToken(context, made.RefreshToken, user);
      return { AuthenticationResult: made };
    },

    /** An address belongs to one user. */
    AdminUpdateUserAttributes: async (context, request) => {
      const { pool, user } = await found(context, request);
      const email = request.UserAttributes?.find(({ Name }) => Name === 'email')?.Value;
      const holder = email === undefined ? null : await pool.getUserByUsername(context, email);
      if (holder && holder.Username !== user.Username) throw new UsernameExistsError();
      return route('AdminUpdateUserAttributes')(context, request);
    },

    /** Checked and forgotten: no identity provider signs in here. */
    AdminLinkProviderForUser: async (context, { UserPoolId, DestinationUser }) => {
      await found(context, { UserPoolId, Username: DestinationUser?.ProviderAttributeValue ?? '' });
      return {};
    },

    AdminSetUserMFAPreference: async (context, request) => {
      const { pool, user } = await found(context, request);
      const enabled = request.SoftwareTokenMfaSettings?.Enabled === true;
      if (enabled && !user.SoftwareTokenMfaConfiguration?.Verified)
        throw new InvalidParameterError('User has not verified software token mfa');
      await pool.saveUser(context, { ...user, UserMFASettingList: enabled ? [SOFTWARE_TOKEN] : [] });
      return {};
    },
  };

  /** Calls with a refresh token prove the client's secret by itself, others by a hash of it that is about a user. */
  const requireSecret = async (context: Context, target: string, request: Request): Promise<void> => {
    const secret = PROVING.test(target) && (await cognito.getAppClient(context, request.ClientId))?.ClientSecret;
    if (!secret) return;
    const { ClientId, ClientSecret, Username, SecretHash } = request;
    const { USERNAME = '', SECRET_HASH } = request.AuthParameters ??
      request.ChallengeResponses ?? { USERNAME: Username, SECRET_HASH: SecretHash };
    const hash = createHmac('sha256', secret).update(`${USERNAME}${ClientId}`).digest('base64');
    const isProven = target.endsWith('Token') ? ClientSecret === secret : SECRET_HASH === hash;
    if (!isProven) throw new NotAuthorizedError();
  };

  /** @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_ConfirmForgotPassword.html */
  const requireValid = ({ Username = '', ConfirmationCode = '' }: Partial<Request>): void => {
    if (Username.length > MAX_USERNAME || /\s/.test(Username + ConfirmationCode))
      throw new InvalidParameterError('1 validation error detected: a value failed to satisfy its constraint');
  };

  return (target: string): Route =>
    async (context, request) => {
      requireValid(request);
      await requireSecret(context, target, request);
      return (operations[target] ?? route(target))(context, request);
    };
};
