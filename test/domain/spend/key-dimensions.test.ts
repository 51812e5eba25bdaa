import { describe, expect, it } from '@jest/globals';
import { scopeOf } from '../../../lambda/domain/limits/limit-blocks.ts';
import { keyDimensionsOf, keysIn, needsKeys } from '../../../lambda/domain/spend/key-dimensions.ts';

const keys = [
  { keyId: 'a', projectId: 'search', ownerUserId: 'ada', status: 'active' },
  { keyId: 'b', projectId: 'search', status: 'active' },
  { keyId: 'c', projectId: 'batch', ownerUserId: 'ada', status: 'revoked' },
] as const;
const ids = (filter: object) => keysIn(filter, keys).map(({ keyId }) => keyId);

describe('what a key belongs to', () => {
  it('is its project, and its member if it has one', () => {
    expect(keys.map(keyDimensionsOf)).toEqual([
      { project: 'search', member: 'ada' },
      { project: 'search', member: null },
      { project: 'batch', member: 'ada' },
    ]);
  });

  it.each([
    [{}, ['a', 'b', 'c'], false],
    [{ keyId: 'b' }, ['b'], false],
    [{ project: 'search' }, ['a', 'b'], true],
    [{ member: 'ada' }, ['a', 'c'], true],
    [{ member: 'ada', project: 'search' }, ['a'], true],
    [{ member: 'ada', keyId: 'b' }, [], true],
    [{ member: undefined, project: undefined }, ['a', 'b', 'c'], false],
  ])('chooses keys by %j', (filter, found, isNeeded) => {
    expect(ids(filter)).toEqual(found);
    expect(needsKeys(filter)).toBe(isNeeded);
  });

  it('stops the active keys of a member, and no request where there are none', () => {
    expect(scopeOf({ member: 'ada', model: 'm' }, keys)).toEqual({ keyIds: ['a'], model: 'm' });
    expect(scopeOf({ member: 'nobody' }, keys)).toEqual({ keyIds: [] });
  });
});
