import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { accountKey, spendPartition } from '../../lambda/data/table/keys.ts';
import type { PricedUsage } from '../../lambda/domain/usage/usage.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent } from '../usage-recorder/events.ts';
import { ledgerSums, total } from '../usage-recorder/ledger-sums.ts';
import { runOps } from './run-command.ts';

const table = tableForTests();

/** The accounts that are named to the command. */
const WRONG = '01930000-0000-7000-8000-00000000000a';
const BROKEN = '01930000-0000-7000-8000-00000000000b';
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const chat = (accountId: string, n: number) =>
  closeEvent({
    accountId,
    n,
    startedAt: `${day}T12:00:00.000Z`,
    reading: { usage: { prompt_tokens: 1_000 * (n + 1), completion_tokens: 100, total_tokens: 1_000 * (n + 1) + 100 } },
  });

const run = (...args: string[]) =>
  runOps('reprice', ['--table', table.name, '--from', day, '--to', day, ...args], {
    env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint },
  });
const reprice = async (...args: string[]) => (await run(...args)).stdout;

const record = async (
  accountId: string,
  price: (event: Parameters<typeof priceRequest>[0]) => PricedUsage,
  events = [0, 1, 2],
) => {
  await table.call('PutItem', { TableName: table.name, Item: { ...accountKey(accountId), plan: 'FREE' } });
  await openRecorder(table, { logger: { error: () => {} }, price })([
    ...events.map((n) => chat(accountId, n)),
    openEvent({ accountId, n: 9, startedAt: `${day}T12:00:00.000Z` }),
  ]);
};

/** A book that did not know the model yet, and then one that had its price wrong. */
const priceless = (event: Parameters<typeof priceRequest>[0]): PricedUsage => ({
  ...priceRequest(event),
  costNanoUsd: null,
  provenance: 'unknown',
  lines: [],
  priceSource: null,
  reason: 'No price is known for this model.',
});
const wrong = (event: Parameters<typeof priceRequest>[0]): PricedUsage => ({ ...priceRequest(event), costNanoUsd: 12 });

describe('npm run reprice', () => {
  it('shows, corrects, and then has nothing left to correct', async () => {
    await record('svc_right', priceRequest);
    await record('svc_priceless', priceless);
    await record(WRONG, wrong);
    const right = await ledgerSums(table, 'svc_right', [day.slice(0, 7)]);
    const before = await ledgerSums(table, 'svc_priceless', []);
    expect(total(before.days)).toMatchObject({ requests: 4, unpricedRequests: 4 });

    expect(await reprice('--dry-run')).toContain('6 of 12 requests are priced differently now.');
    expect(await ledgerSums(table, 'svc_priceless', [])).toEqual(before);

    expect(await reprice('--account', WRONG)).toContain('3 corrected.');
    expect(await ledgerSums(table, WRONG, [day.slice(0, 7)])).toEqual(right);

    const output = await reprice();
    expect(output).toContain('3 of 12 requests are priced differently now.');
    expect(output).toContain('3 corrected.');
    expect(output).toContain('openai gpt-4o-2024-08-06');
    expect(output).not.toContain('svc_');
    for (const accountId of ['svc_right', 'svc_priceless', WRONG])
      expect(await ledgerSums(table, accountId, [day.slice(0, 7)])).toEqual(right);

    expect(await reprice()).toContain('0 of 12 requests are priced differently now.');
    const { items } = await openRequests(table).page('svc_priceless', {
      from: `${day}T00:00:00.000Z`,
      to: `${day}T23:59:59.999Z`,
      limit: 1,
      filter: { outcome: 'completed' },
    });
    expect(items[0]).toMatchObject({ revision: 2, provenance: 'computed' });
  });

  it('fails where a counter cannot be corrected', async () => {
    await record(BROKEN, priceless, [0]);
    const { Items = [] } = await table.call('Query', {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': spendPartition(BROKEN) },
    });
    for (const item of Items)
      await table.call('PutItem', { TableName: table.name, Item: { ...item, unpricedRequests: 'x' } });
    expect(await run('--account', BROKEN)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 could not be: run again.'),
    });
  });

  it.each([
    [['--from', 'yesterday'], '--from: takes a day, such as 2026-11-20'],
    [['--to', '2020-01-01'], '--to: is before --from'],
    [['--frm', day], "Unknown option '--frm'"],
  ])('says what is wrong with %j, and how it is used', async (args, problem) => {
    expect(await run(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`^${problem}[^]*--dry-run`)),
    });
  });
});
