import { createHash } from 'node:crypto';
import * as z from 'zod';
import { NotFoundError } from '../domain/errors.ts';

/** Where a page ended: the next begins below `requestId` on `day`, or at the end of `day` where that is null. */
export interface RequestPosition {
  readonly day: string;
  readonly requestId: string | null;
}

const stored = z.tuple([z.iso.date(), z.uuid().nullable(), z.string()]);

/** Binds a cursor to its account. No secret: a page is read under the caller's own account whatever the cursor says. */
const seal = (accountId: string, { day, requestId }: RequestPosition): string =>
  createHash('sha256').update(`${accountId}\n${day}\n${requestId}`).digest('base64url').slice(0, 10);

export const requestCursor = (accountId: string, position: RequestPosition): string =>
  Buffer.from(JSON.stringify([position.day, position.requestId, seal(accountId, position)])).toString('base64url');

/** @throws NotFoundError for a cursor that is none of this account's */
export const parseRequestCursor = (accountId: string, cursor: string): RequestPosition => {
  const unknownCursor = new NotFoundError('There is no such page: start again without a cursor.');
  let text: unknown;
  try {
    text = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw unknownCursor;
  }
  const { success, data } = stored.safeParse(text);
  if (!success) throw unknownCursor;
  const [day, requestId, given] = data;
  if (given !== seal(accountId, { day, requestId })) throw unknownCursor;
  return { day, requestId };
};
