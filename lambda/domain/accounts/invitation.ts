import { hash } from 'node:crypto';

/** How long an invitation can be accepted, from when it was last sent. */
export const INVITATION_DAYS = 7;

const RANDOM_BYTES = 32;

/** The same for each invitation of an address to an account, so that an address has one at a time. Hex, 32 characters. */
export const invitationIdOf = (email: string): string => hash('sha256', email).slice(0, 32);

/** The one-time token of an invitation's link: where the invitation is, and a secret. @param randomBytes a cryptographic source */
export const newInvitationToken = (
  { accountId, invitationId }: { readonly accountId: string; readonly invitationId: string },
  randomBytes: (size: number) => Buffer,
): string => `${accountId}.${invitationId}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;

const TOKEN = /^([0-9a-f-]{36})\.([0-9a-f]{32})\.[\w-]{43}$/;

/** Where the invitation of a token is; undefined for text that is no token. */
export const parseInvitationToken = (
  token: string,
): { readonly accountId: string; readonly invitationId: string } | undefined => {
  const [, accountId, invitationId] = TOKEN.exec(token) ?? [];
  return accountId === undefined || invitationId === undefined ? undefined : { accountId, invitationId };
};
