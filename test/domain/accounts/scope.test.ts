import { expect, it } from '@jest/globals';
import { hasProject, isIn, scopeOf } from '../../../lambda/domain/accounts/scope.ts';

const own = { projectId: 'a', ownerUserId: 'me' };
const foreign = { projectId: 'a', ownerUserId: 'you' };
const elsewhere = { projectId: 'b', ownerUserId: 'me' };

it('shows every key and project to somebody without a limit', () => {
  const { sees } = scopeOf({ userId: 'me', role: 'viewer' });
  expect([own, foreign, elsewhere].map((key) => isIn(sees, key))).toEqual([true, true, true]);
  expect(hasProject(sees, 'b')).toBe(true);
});

it('lets only roles that change all keys change those of others', () => {
  const changeable = (role: 'member' | 'admin') =>
    [own, foreign].map((key) => isIn(scopeOf({ userId: 'me', role }).changes, key));
  expect(changeable('member')).toEqual([true, false]);
  expect(changeable('admin')).toEqual([true, true]);
});

it('limits a developer to keys of their own', () => {
  const { sees, permits } = scopeOf({ userId: 'me', role: 'developer' });
  expect([own, foreign, elsewhere].map((key) => isIn(sees, key))).toEqual([true, false, true]);
  expect([sees.keyIds?.size, permits('spend:read-all')]).toEqual([0, false]);
});

it('limits what somebody sees and changes to the projects of the member', () => {
  const { sees, changes } = scopeOf({ userId: 'me', role: 'member', projects: ['a'] });
  expect([own, foreign, elsewhere].map((key) => isIn(sees, key))).toEqual([true, true, false]);
  expect([own, foreign, elsewhere].map((key) => isIn(changes, key))).toEqual([true, false, false]);
  expect([hasProject(sees, 'a'), hasProject(sees, 'b')]).toEqual([true, false]);
});
