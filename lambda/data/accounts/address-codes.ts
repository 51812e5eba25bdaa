import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { RateLimitedError } from '../../domain/errors.ts';
import { IS_NEW, put, update } from '../table/actions.ts';
import { addressCodeKey } from '../table/keys.ts';
import { findAs } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { isConditionFailed, tryWrite, write } from '../table/write.ts';

const LIFETIME_MS = DAY_MS;
const MAX_GUESSES = 5;
/** With eight digits and five guesses each, ten codes a day leave a chance of one in two million. */
const MAX_CODES_A_DAY = 10;
const MIN_PAUSE_MS = MINUTE_MS;

const stored = z.object({
  /** The address that the code was mailed to. */
  email: z.string(),
  codeHash: z.string(),
  guessesLeft: z.int(),
  /** Milliseconds since 1970. */
  issuedAtMs: z.int(),
  /** The day begins with the first code. */
  dayStartMs: z.int(),
  codesOfDay: z.int(),
});

/** Salted with the user: equal codes of two users look different. */
const hashOf = (userId: string, code: string): string => hash('sha256', `${userId}:${code}`, 'base64url');

/** Codes that prove a mail address. A user has at most one: the latest. */
export const openAddressCodes = (table: Table) => {
  return {
    /**
     * Replaces the user's code.
     *
     * @throws RateLimitedError within a minute of the last code, and after ten codes in a day
     */
    issue: async (userId: string, email: string, code: string, nowMs: number): Promise<void> => {
      const last = await findAs(table, addressCodeKey(userId), stored);
      const sameDay = last !== undefined && nowMs < last.dayStartMs + DAY_MS;
      const codesOfDay = sameDay ? last.codesOfDay + 1 : 1;
      if (last && nowMs < last.issuedAtMs + MIN_PAUSE_MS)
        throw new RateLimitedError('A code was sent less than a minute ago. Wait a minute, then ask for another.');
      if (codesOfDay > MAX_CODES_A_DAY)
        throw new RateLimitedError('Ten codes were sent today. Ask for another one tomorrow.');
      const item = {
        ...addressCodeKey(userId),
        email,
        codeHash: hashOf(userId, code),
        guessesLeft: MAX_GUESSES,
        issuedAtMs: nowMs,
        dayStartMs: sameDay ? last.dayStartMs : nowMs,
        codesOfDay,
        // Past the day, so that its count is not forgotten.
        expiresAt: Math.ceil((nowMs + 2 * LIFETIME_MS) / 1_000),
      };
      // One of two simultaneous requests sends a code.
      if (!(await tryWrite(table, put(item, last ? 'issuedAtMs = :last' : IS_NEW, { last: last?.issuedAtMs }))))
        throw new RateLimitedError('A code was sent at this moment. Wait a minute, then ask for another.');
    },

    /**
     * Uses the code up. Each call is a guess, right or wrong; after five a new code is needed.
     *
     * @returns the proven address; undefined for a wrong, used or expired code
     */
    redeem: async (userId: string, code: string, nowMs: number): Promise<string | undefined> => {
      try {
        const guess = update(
          addressCodeKey(userId),
          'ADD guessesLeft :less',
          'guessesLeft > :none AND issuedAtMs > :oldest',
          {
            less: -1,
            none: 0,
            oldest: nowMs - LIFETIME_MS,
          },
        );
        const { Attributes } = await table.call('UpdateItem', {
          TableName: table.name,
          ...guess.Update,
          ReturnValues: 'ALL_NEW',
        });
        const { email, codeHash } = stored.parse(Attributes);
        if (codeHash !== hashOf(userId, code)) return undefined;
        // The count of codes stays: a used code is no way to more of them.
        const useUp = 'SET codeHash = :used, guessesLeft = :none';
        await write(
          table,
          update(addressCodeKey(userId), useUp, 'codeHash = :codeHash', { used: '', none: 0, codeHash }),
        );
        return email;
      } catch (error) {
        if (isConditionFailed(error)) return undefined;
        throw error;
      }
    },
  };
};
