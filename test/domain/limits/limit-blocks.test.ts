import { expect, it } from '@jest/globals';
import { amountFor } from '../../../lambda/domain/limits/each.ts';
import { eachLimitOf } from '../../../lambda/domain/limits/limit-blocks.ts';
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
