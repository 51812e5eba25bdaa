import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { RateLimitedError } from '../../domain/errors.ts';
import { addressCodeKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

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
  /** Of the day that begins with the first code. */
  dayStartMs: z.int(),
  codesOfDay: z.int(),
});

/** Salted with the user: equal codes of two users look different. */
const hashOf = (userId: string, code: string): string =>
  createHash('sha256').update(`${userId}:${code}`).digest('base64url');

/** Codes that prove a mail address. A user has at most one: the latest. */
export const openAddressCodes = ({ client, name }: Table) => {
  const read = async (userId: string) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: addressCodeKey(userId), ConsistentRead: true }),
    );
    return Item && stored.parse(Item);
  };
  return {
    /** The address that waits for its code; undefined if there is none, or the code has expired. */
    pending: async (userId: string, nowMs: number): Promise<string | undefined> => {
      const item = await read(userId);
      return item && item.codeHash !== '' && nowMs < item.issuedAtMs + LIFETIME_MS ? item.email : undefined;
    },

    /**
     * Replaces the user's code.
     *
     * @throws RateLimitedError within a minute of the last code, and after ten codes in a day
     */
    issue: async (userId: string, email: string, code: string, nowMs: number): Promise<void> => {
      const last = await read(userId);
      const sameDay = last !== undefined && nowMs < last.dayStartMs + DAY_MS;
      const codesOfDay = sameDay ? last.codesOfDay + 1 : 1;
      if (last && nowMs < last.issuedAtMs + MIN_PAUSE_MS)
        throw new RateLimitedError('A code was sent less than a minute ago. Wait a minute, then ask for another.');
      if (codesOfDay > MAX_CODES_A_DAY)
        throw new RateLimitedError('Ten codes were sent today. Ask for another one tomorrow.');
      await client
        .send(
          new PutCommand({
            TableName: name,
            Item: {
              ...addressCodeKey(userId),
              email,
              codeHash: hashOf(userId, code),
              guessesLeft: MAX_GUESSES,
              issuedAtMs: nowMs,
              dayStartMs: sameDay ? last.dayStartMs : nowMs,
              codesOfDay,
              // Past the day, so that its count is not forgotten.
              expiresAt: Math.ceil((nowMs + 2 * LIFETIME_MS) / 1_000),
            },
            // Of two requests at once, one sends a code.
            ConditionExpression: last ? 'issuedAtMs = :last' : 'attribute_not_exists(pk)',
            ...(last && { ExpressionAttributeValues: { ':last': last.issuedAtMs } }),
          }),
        )
        .catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          throw new RateLimitedError('A code was sent at this moment. Wait a minute, then ask for another.');
        });
    },

    /**
     * Uses the code up. Each call is a guess, right or wrong; after five a new code is needed.
     *
     * @returns the proven address; undefined for a wrong, used or expired code
     */
    redeem: async (userId: string, code: string, nowMs: number): Promise<string | undefined> => {
      try {
        const { Attributes } = await client.send(
          new UpdateCommand({
            TableName: name,
            Key: addressCodeKey(userId),
            UpdateExpression: 'ADD guessesLeft :less',
            ConditionExpression: 'guessesLeft > :none AND issuedAtMs > :oldest',
            ExpressionAttributeValues: { ':less': -1, ':none': 0, ':oldest': nowMs - LIFETIME_MS },
            ReturnValues: 'ALL_NEW',
          }),
        );
        const { email, codeHash } = stored.parse(Attributes);
        if (codeHash !== hashOf(userId, code)) return undefined;
        // The count of codes stays: a used code is no way to more of them.
        await client.send(
          new UpdateCommand({
            TableName: name,
            Key: addressCodeKey(userId),
            UpdateExpression: 'SET codeHash = :used, guessesLeft = :none',
            ConditionExpression: 'codeHash = :hash',
            ExpressionAttributeValues: { ':used': '', ':none': 0, ':hash': codeHash },
          }),
        );
        return email;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },
  };
};

export type AddressCodes = ReturnType<typeof openAddressCodes>;
