import { expect, it } from '@jest/globals';
import { type Block, type Blocks, NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import { amountFor } from '../../../lambda/domain/limits/each.ts';
import { eachLimitOf, withLimits } from '../../../lambda/domain/limits/limit-blocks.ts';
import { evaluatorOf, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';

const limitOf = (config: object) =>
  evaluatorOf(ruleConditionSchema.parse({ type: 'budget', config: { amount: 5, period: 'daily', ...config } })).limit!;

it('leaves what is known of a limit that could not be judged, and of nothing else', () => {
  const of = (id: string, kind: Block['kind'] = 'budget') => ({
    ...{ id, kind, name: id, scope: {}, until: '2026-11-21T00:00:00.000Z', amountNanoUsd: 5e9, spentNanoUsd: 7e9 },
    ...{ nanoUsd: -2e9, period: 'daily', limitNanoUsd: 5e9, unknownCost: 'pass', onUnavailable: 'pass' },
  });
  const both = [of('unjudged'), of('gone')] as const;
  const before = { ...NO_BLOCKS, blocks: [...both, of('p', 'pause')], remaining: both, reserved: both } as Blocks;
  const { blocks, remaining, reserved } = withLimits(before, [], new Set(['unjudged']), [], []);
  expect([blocks, remaining, reserved].map((some) => some.map(({ id }) => id))).toEqual([
    ['unjudged', 'p'],
    ['unjudged'],
    ['unjudged'],
  ]);
});

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
