import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { NotFoundError } from '../../domain/errors.ts';

/** Binds a cursor to its account. It is no secret: a page is always read under the caller's account. */
const checksumOf = (accountId: string, position: unknown): string =>
  hash('sha256', JSON.stringify([accountId, position]), 'base64url').slice(0, 10);

/** Cursors of one kind of list: the position where a page ended, as text that is valid for one account only. */
export const pageCursor = <P>(positionSchema: z.ZodMiniType<P>) => {
  const stored = z.tuple([positionSchema, z.string()]);
  return {
    write: (accountId: string, position: P): string =>
      Buffer.from(JSON.stringify([position, checksumOf(accountId, position)])).toString('base64url'),

    /** @throws NotFoundError for a cursor of another account */
    read: (accountId: string, cursor: string): P => {
      const unknownCursor = new NotFoundError('There is no such page: start again without a cursor.');
      let json: unknown;
      try {
        json = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
      } catch {
        throw unknownCursor;
      }
      const { success, data } = stored.safeParse(json);
      if (!success || data[1] !== checksumOf(accountId, data[0])) throw unknownCursor;
      return data[0];
    },
  };
};
