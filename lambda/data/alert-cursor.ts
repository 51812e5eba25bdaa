import { createHash } from 'node:crypto';
import * as z from 'zod';
import { NotFoundError } from '../domain/errors.ts';

const stored = z.tuple([z.string().max(64), z.string()]);

/** Binds a cursor to its account. No secret: pages are read under the caller's account whatever the cursor says. */
const seal = (accountId: string, alertId: string): string =>
  createHash('sha256').update(`${accountId}\n${alertId}`).digest('base64url').slice(0, 10);

/** A page ends at an alert; the next begins below it, whatever came or changed meanwhile. */
export const alertCursor = (accountId: string, alertId: string): string =>
  Buffer.from(JSON.stringify([alertId, seal(accountId, alertId)])).toString('base64url');

/** @throws NotFoundError for a cursor that is none of this account's */
export const parseAlertCursor = (accountId: string, cursor: string): string => {
  const unknownCursor = new NotFoundError('There is no such page: start again without a cursor.');
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw unknownCursor;
  }
  const { success, data } = stored.safeParse(json);
  if (!success || data[1] !== seal(accountId, data[0])) throw unknownCursor;
  return data[0];
};
