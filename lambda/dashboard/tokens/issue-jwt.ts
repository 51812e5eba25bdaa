import { auditEntry } from '../../data/accounts/audit-log.ts';
import { apiTokenPassword } from '../../domain/accounts/issued-secret.ts';
import { InvalidCredentialsError } from '../../domain/errors.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Identity } from '../auth/open-identity.ts';
import { redeemCode } from './connect-clients.ts';
import type { issueJwt as operation } from './operations.ts';

interface Client {
  readonly id: string;
  readonly secret: string;
}

const HOW = 'Send the id of an API token as client_id and the token as client_secret, in the form or by HTTP Basic.';

const invalidClient = () =>
  new OAuthError('invalid_client', `The API token is wrong, removed or expired, or its id is another one. ${HOW}`);

/** Both parts are form-encoded first. @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
const formDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

const basicClient = (authorization: string): Client | undefined => {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  return id === undefined || secret === undefined ? undefined : { id: formDecoded(id), secret: formDecoded(secret) };
};

/** @throws OAuthError */
const clientOf = (
  authorization: string | undefined,
  { client_id: id, client_secret: secret }: { client_id?: string | undefined; client_secret?: string | undefined },
): Client => {
  if (authorization === undefined) {
    if (id === undefined || secret === undefined) throw new OAuthError('invalid_client', HOW);
    return { id, secret };
  }
  if (secret !== undefined)
    throw new OAuthError('invalid_request', 'Send the client secret in the form or by HTTP Basic, not both.');
  const client = basicClient(authorization);
  if (client === undefined)
    throw new OAuthError('invalid_client', `The Authorization header is not HTTP Basic. ${HOW}`);
  if (id !== undefined && id !== client.id)
    throw new OAuthError('invalid_request', 'client_id differs from the one of HTTP Basic.');
  return client;
};

/**
 * The client credentials grant of OAuth 2: logs the token's user in, and returns the JWT. Its refresh token is dropped.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.4
 */
export const issueJwt =
  (dependencies: Identity): Implementation<typeof operation> =>
  async ({ authorization, clientAddress, body }) => {
    const { use, sessions, audit, now, logger } = dependencies;
    if (body.grant_type === 'authorization_code') return redeemCode(dependencies)({ body, clientAddress });
    if (body.grant_type === undefined) throw new OAuthError('invalid_request', 'Send grant_type=client_credentials.');
    if (body.grant_type !== 'client_credentials')
      throw new OAuthError('unsupported_grant_type', 'Grant types are client_credentials and authorization_code.');
    if (body.scope !== undefined)
      throw new OAuthError('invalid_scope', 'There are no scopes: the role of the API token decides. Leave scope out.');
    const client = clientOf(authorization, body);
    const owner = await use.ownerOf(client.secret);
    if (owner === undefined || owner.tokenId !== client.id) throw invalidClient();
    try {
      const { token, expiresIn } = await sessions.logIn(owner.userId, apiTokenPassword(client.secret));
      const source = { actor: owner, clientAddress };
      const fact = { action: 'token.exchanged', subject: owner.tokenId } as const;
      await audit
        .record(auditEntry(owner.accountId, source, fact, now()))
        .catch((error: Error) => logger.error('token exchange not in the audit log', { error }));
      return { access_token: token, token_type: 'Bearer', expires_in: expiresIn };
    } catch (error) {
      // The token was removed within the last minute, and its user with it.
      throw error instanceof InvalidCredentialsError ? invalidClient() : error;
    }
  };
