import { expect, it } from '@jest/globals';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import { amountFor, atPercent, limitPeriodAt } from '../../../lambda/domain/limits/each.ts';
import { useOf } from '../../../lambda/domain/limits/limit.ts';
import { eachLimitOf, withLimits } from '../../../lambda/domain/limits/limit-blocks.ts';
import { valueState } from '../../../lambda/domain/limits/limit-states.ts';
import { evaluatorOf, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';

const limitOf = (config: object) =>
  evaluatorOf(ruleConditionSchema.parse({ type: 'budget', config: { amount: 5, period: 'daily', ...config } })).limit!;

it.each([
  ['member', 'ada'],
  ['key', 'k1'],
])('gives a %s the highest amount of its projects, and else that of its role', (each, value) => {
  const limit = limitOf({ each, amountByProject: { low: 10, high: 90 }, amountByRole: { admin: 300 } });
  const key = (keyId: string, projectId: string) =>
    ({ keyId, projectId, ownerUserId: 'ada', status: 'active' }) as const;
  const heldOf = (...projects: string[]) => {
    const keys = projects.map((project) => key('k1', project));
    const belongings = { keys: [...keys, key('k2', 'other')], members: [{ userId: 'ada', role: 'admin' }] };
    const known = eachLimitOf({ ruleId: 'b', name: 'b', limit }, belongings, '');
    return amountFor(known!, value, null, new Date());
  };
  expect(heldOf('low', 'high')).toEqual({ nanoUsd: 90e9, source: 'project' });
  expect(heldOf('low')).toEqual({ nanoUsd: 10e9, source: 'project' });
  expect(heldOf('third')).toEqual({ nanoUsd: 300e9, source: 'role' });
});

it('has a value in one group alone, by which lists show its amount', () => {
  const limit = limitOf({ each: 'member', amountByProject: { low: 10, high: 90 }, amountByRole: { admin: 300 } });
  const members = [{ userId: 'ada', role: 'admin', projects: ['low', 'high'] }];
  const { groups } = eachLimitOf({ ruleId: 'b', name: 'b', limit }, { keys: [], members }, '')!;
  expect(groups.flatMap(({ values }) => values)).toEqual(['ada']);
});

it('rounds a percentage of an amount up, and ends certain days with the last of them', () => {
  expect([1, 50, 100].map((percent) => atPercent({ amountNanoUsd: 101 }, percent))).toEqual([2, 51, 101]);
  const endAt = (time: string) => limitPeriodAt({ from: '2026-11-01', to: '2026-11-10' }, new Date(time))?.end;
  expect(endAt('2026-11-10T23:59:59.999Z')).toBe('2026-11-11T00:00:00.000Z');
  expect(endAt('2026-11-11T00:00:00.000Z')).toBeUndefined();
});

it('gives a member no amount of a project in which all of its keys are revoked', () => {
  const limit = limitOf({ each: 'member', amount: 200, amountByProject: { p: 1_000 } });
  const amountWith = (status: 'active' | 'revoked') => {
    const keys = [
      { keyId: 'k1', projectId: 'default', ownerUserId: 'ada', status: 'active' as const },
      { keyId: 'k2', projectId: 'p', ownerUserId: 'ada', status },
    ];
    const belongings = { keys, members: [{ userId: 'ada', role: 'developer' }] };
    return amountFor(eachLimitOf({ ruleId: 'b', name: 'b', limit }, belongings, '')!, 'ada', null, new Date()).nanoUsd;
  };
  expect([amountWith('active'), amountWith('revoked')]).toEqual([1_000e9, 200e9]);
});

it('is an item that the table takes, however many keys were revoked and members have none', () => {
  const now = new Date('2026-11-20T12:00:00.000Z');
  const groups = { amountByProject: { p: 90, q: 10 }, amountByRole: { developer: 20 } };
  const limits = Array.from({ length: 50 }, (_, n) => limitOf({ each: n % 2 ? 'key' : 'member', ...groups }));
  const members = Array.from({ length: 2_000 }, (_, n) => ({
    userId: `user-${n}`,
    role: 'developer',
    projects: ['p'],
  }));
  const keyOf = (keyId: string, revokedAt?: string) => {
    const status = revokedAt === undefined ? ('active' as const) : ('revoked' as const);
    return { keyId, projectId: 'q', ownerUserId: `user-of-${keyId}`, status, revokedAt };
  };
  // Every 8 s one is revoked.
  const old = Array.from({ length: 20_000 }, (_, n) =>
    keyOf(`key-${n}`, new Date(now.getTime() - n * 8_000 - 3_600_001).toISOString()),
  );
  const keys = [...old, keyOf('active'), keyOf('late', '2026-11-20T11:00:00.000Z')];
  const each = limits.map((limit) => eachLimitOf({ ruleId: 'b', name: 'b', limit }, { keys, members }, '')!);
  const known = withLimits(NO_BLOCKS, [], keys, each, now);
  expect(JSON.stringify(known).length).toBeLessThan(400_000);
  for (const key of ['active', 'late'])
    expect(amountFor(known.each[1]!, key, null, now)).toEqual({ nanoUsd: 10e9, source: 'project' });
});

const NOON = new Date('2026-11-20T12:00:00.000Z');
const period = periodAt('daily', NOON);
const keys = [
  { keyId: 'k1', projectId: 'p', ownerUserId: 'ada', status: 'active' },
  { keyId: 'k2', projectId: 'p', ownerUserId: 'ada', status: 'revoked', revokedAt: '2026-11-18T12:00:00.000Z' },
] as const;
const eachMember = eachLimitOf(
  { ruleId: 'e', name: 'e', limit: limitOf({ each: 'member' }) },
  { keys, members: [] },
  '',
)!;

it('blocks active keys alone, and shows what was spent when the block of an amount began', () => {
  let blocks = NO_BLOCKS;
  const blockAt = (amount: number, usd: number) => {
    const limit = limitOf({ amount, filter: { project: 'p' }, block: {} });
    const use = useOf(limit, { requests: 1, costComputedNanoUsd: usd * 1e9 });
    blocks = withLimits(blocks, [{ ruleId: 'b', name: 'b', limit, period, use }], keys, [eachMember], NOON);
    return blocks.blocks.map(({ scope, spentNanoUsd }) => [scope.keyIds, spentNanoUsd]);
  };
  expect(blockAt(5, 6)).toEqual([[['k1'], 6e9]]);
  expect(blockAt(5, 7)).toEqual([[['k1'], 6e9]]);
  expect(blockAt(6, 8)).toEqual([[['k1'], 8e9]]);
  expect(blocks.keys).toEqual({ k1: { project: 'p', member: 'ada' } });
});

it.each([
  ['its rate', 1e9, 0, 2e9],
  ['nothing where no cost is known', 0, 2, null],
])('projects of a value %s', (_, usedNanoUsd, unpricedRequests, projectedNanoUsd) => {
  const counted = { value: 'ada', usedNanoUsd, unpricedRequests, reservedNanoUsd: 0 };
  expect(valueState(eachMember, counted, null, { period, now: NOON })).toMatchObject({ projectedNanoUsd });
});
