import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { openBlocks } from '../../../lambda/data/alerts/blocks.ts';
import { NO_BLOCKS, type ReservedBudget } from '../../../lambda/domain/limits/block.ts';
import { blockReader } from '../../../lambda/gateway/admission/block-lookup.ts';
import { awsCaller, awsService, environmentCredentials } from '../../../lambda/gateway/aws/aws-json.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import { newAccount } from '../../data/new-account.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();

it('leaves out what a later version wrote, and keeps the rest', async () => {
  const scope = { tag: 'a' };
  const entries = [
    { id: 'known', kind: 'budget', period: 'monthly', scope },
    { id: 'days', kind: 'budget', period: { from: '2026-11-01', to: '2026-11-10' }, scope },
    { id: 'period', kind: 'budget', period: 'quarterly', scope },
    { id: 'kind', kind: 'slow', period: 'monthly', scope },
    { id: 'scope', kind: 'budget', period: 'monthly', scope: { ...scope, region: 'eu' } },
  ];
  const lists = ['blocks', 'remaining', 'reserved', 'access', 'each'] as const;
  const json = JSON.stringify({ ...NO_BLOCKS, ...Object.fromEntries(lists.map((name) => [name, entries])) });
  const blocks = await blockReader(async () => ({ Item: { json: { S: json } } }), 'table', 1)('account');
  for (const name of lists) expect(blocks[name].map(({ id }) => id)).toEqual(['known', 'days']);
});

it.each([1, 100])('reads fifty budgets of a project with %i keys, and fifty pauses of it', async (count) => {
  const keys = {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
  };
  const call = awsCaller(awsService('dynamodb', keys), environmentCredentials(keys), nodeTransport);
  const { accountId } = await newAccount(table);
  const keyIds = Array.from({ length: count }, () => randomUUID());
  const fifty = Array.from({ length: 50 }, (_, index) => ({
    ...{ id: randomUUID(), name: 'ü'.repeat(64), scope: { model: `m-${index}`, keyIds }, amountNanoUsd: 1 },
  }));
  const end = { until: '2026-12-01T00:00:00Z' };
  const blocks = {
    ...NO_BLOCKS,
    blocks: fifty.flatMap((one) => [
      { ...one, ...end, kind: 'budget' as const, spentNanoUsd: 1 },
      { ...one, ...end, id: randomUUID(), kind: 'pause' as const, amountNanoUsd: null, spentNanoUsd: null },
    ]),
    remaining: fifty.map(({ id, scope }) => ({ id, scope, ...end, nanoUsd: 1 })),
    reserved: fifty.map(
      (one): ReservedBudget => ({
        ...{ ...one, period: 'monthly', limitNanoUsd: 1, unknownCost: 'pass', onUnavailable: 'pass' },
      }),
    ),
  };
  const repository = openBlocks(table);
  await repository.change(accountId, () => blocks);
  const read = blockReader(call, table.name, 10_000);
  expect(await read(accountId)).toEqual(blocks);
  expect(await repository.read(accountId)).toEqual(blocks);
  await repository.change(accountId, () => NO_BLOCKS);
  expect(await read(accountId)).toEqual(NO_BLOCKS);
});
