import { isVerified, type User } from '../../data/accounts/users.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { IdentityParts } from './open-parts.ts';

/** An intruder who signed in moved the last sign-in: the review goes back at least this far. */
const MIN_REVIEW_MS = 30 * DAY_MS;

/** From when on keys and tokens may be somebody else's. With an address that nobody had proven, all may be. */
const reviewSince = (user: User, nowMs: number): string =>
  isVerified(user)
    ? new Date(Math.min(nowMs - MIN_REVIEW_MS, Date.parse(user.lastSignInAt ?? user.createdAt))).toISOString()
    : user.createdAt;

export type EndSessions = (user: User) => Promise<void>;

/**
 * Ends every session of a user: Cognito revokes the refresh tokens, and the API refuses tokens of earlier sign-ins, within a minute.
 * Sign-ins are counted in seconds, so it waits for the next one: the user's next sign-in is later than any that was ended.
 */
export const endSessions =
  ({ users, sessions, clock, now }: IdentityParts): EndSessions =>
  async (user) => {
    const nowMs = now().getTime();
    const endedAt = Math.floor(nowMs / 1_000) + 1;
    await users.endSessions(user.userId, endedAt, reviewSince(user, nowMs));
    await sessions.endSessions(user.userId);
    await clock.pause(Math.max(0, endedAt * 1_000 - now().getTime()));
  };
