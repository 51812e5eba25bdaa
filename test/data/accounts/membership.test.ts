import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { openMembership } from '../../../lambda/data/accounts/membership.ts';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { UnauthenticatedError } from '../../../lambda/domain/errors.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { newAccount } from '../new-account.ts';

const table = tableForTests();
afterEach(() => {
  jest.restoreAllMocks();
});

const SIGNED_IN = 1_800_000_000;
const tokenOf = (userId: string, facts: { audience?: string; authTime?: number } = {}) => ({
  userId,
  audience: 'client',
  authTime: SIGNED_IN,
  ...facts,
});
const passSeconds = (seconds: number) => {
  const nowMs = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(nowMs + seconds * 1_000);
};

describe('membership', () => {
  it('is that of the token’s user, and of no token of another app client', async () => {
    const { userId, accountId, email } = await newAccount(table);
    const { membershipOf } = openMembership(table, 'client');
    expect(await membershipOf(tokenOf(userId))).toEqual({ accountId, role: 'owner', name: email });
    expect(await membershipOf(tokenOf(userId, { audience: 'another' }))).toBeUndefined();
    expect(await membershipOf(tokenOf('nobody'))).toBeUndefined();
  });

  it('is refused within a minute to sessions that were ended, and to no later ones', async () => {
    const { userId } = await newAccount(table);
    const { membershipOf } = openMembership(table, 'client');
    await membershipOf(tokenOf(userId));
    await openUsers(table).endSessions(userId, SIGNED_IN + 1, '2026-11-20T00:00:00.000Z');
    passSeconds(60);
    await expect(membershipOf(tokenOf(userId))).rejects.toThrow(UnauthenticatedError);
    expect(await membershipOf(tokenOf(userId, { authTime: SIGNED_IN + 1 }))).toBeDefined();
  });
});
