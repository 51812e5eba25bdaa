import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { billedProviders } from '../../lambda/domain/reconciliation/bill.ts';
import { addSpend } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { CREDENTIAL, type MockBills, startMockBills } from '../integrations/bills/mock-bills.ts';
import { tableForTests } from '../table-for-tests.ts';
import { runOps } from './run-command.ts';

const table = tableForTests();
let mock: MockBills;
beforeAll(async () => {
  mock = await startMockBills();
});
afterAll(() => mock.stop());

const now = Date.now();
const dayBefore = (days: number) => new Date(now - days * 86_400_000).toISOString().slice(0, 10);
const billed = (day: string, model = 'gpt-4o-2024-08-06') => ({
  ...{ day, model, usd: 0.1, input: 900, cached: 100, output: 50, requests: 7 },
});

const check = async (provider: string, credential: string | undefined = CREDENTIAL, requests = 7) => {
  const { accountKey, accountId } = await newAccount(table);
  if (requests > 0) await addSpend(table, accountId, `${dayBefore(1)}T10:00:00.000Z`, { requests }, { provider });
  const { code, stdout, stderr } = await runOps('reconcile', ['--check', accountKey, provider, '--table', table.name], {
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      UPSTREAM_ORIGINS: JSON.stringify(Object.fromEntries(billedProviders.map((label) => [label, mock.origin]))),
      ...(credential && { BILL_CREDENTIAL: credential }),
    },
  });
  return { code, output: stdout + stderr };
};

describe('npm run reconcile -- --check', () => {
  beforeEach(() => {
    mock.failures = [];
    mock.body = null;
    mock.days = [3, 1].map((days) => billed(dayBefore(days)));
  });

  it.each(billedProviders)(
    'says what the bill of %s has, and which of its days are not on record',
    async (provider) => {
      const { code, output } = await check(provider);
      expect(output).toContain('The provider accepts the credential.');
      expect(output).toMatch(/: \$0\.2 in 2 lines on 2 of 7 days/);
      expect(output).toContain(`On the bill, and not on record: ${dayBefore(3)}`);
      expect(code).toBe(0);
    },
  );

  it('says which credential it takes where this one is refused', async () => {
    const { code, output } = await check('openai', 'sk-proj-wrong');
    expect([code, output]).toEqual([1, expect.stringContaining('The provider refused the credential (401)')]);
    expect(output).toContain('It takes an admin key (sk-admin-…) with the scope api.usage.read.');
    expect(output).not.toContain('sk-proj-wrong');
  });

  it('says which day is not on the bill yet, and that an empty one may be of another organization', async () => {
    mock.days = [billed(dayBefore(3))];
    expect((await check('anthropic')).output).toContain(`not on the bill (yet): ${dayBefore(1)}`);
    mock.days = [];
    const { code, output } = await check('anthropic');
    expect([code, output]).toEqual([1, expect.stringContaining('Nothing is billed on these days')]);
    // Nothing was sent either.
    expect((await check('anthropic', CREDENTIAL, 0)).code).toBe(0);
  });

  it('says what is missing without a credential, and for a provider without an API', async () => {
    expect(await check('openrouter', '')).toEqual({
      code: 1,
      output: expect.stringContaining('set BILL_CREDENTIAL to a management key'),
    });
    expect(await check('groq')).toEqual({ code: 1, output: expect.stringContaining('The bill of groq is imported') });
  });
});

it('npm run reconcile -- --import FILE --dry-run compares nothing, since it stores nothing', async () => {
  const { accountKey } = await newAccount(table);
  const file = join(tmpdir(), `bill-${process.pid}.csv`);
  writeFileSync(file, `day,amount\n${dayBefore(2)},3\n`);
  const range = ['--from', dayBefore(2), '--to', dayBefore(2), '--table', table.name];
  const args = [accountKey, 'groq', ...range, '--import', file, '--dry-run'];
  expect(await runOps('reconcile', args, { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } })).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: 'Lines read: 1. None is stored or compared.\n',
  });
});

it.each([
  [{ costComputedNanoUsd: 2_000_000_000, unpricedRequests: 3 }, '$2 and the unknown cost of 3 requests'],
  [{ unpricedRequests: 1 }, 'the unknown cost of 1 request'],
  [{ costComputedNanoUsd: 2_000_000_000 }, '$2'],
])('npm run reconcile says of %j on record: %s', async (counters, recorded) => {
  const { accountKey, accountId } = await newAccount(table);
  await addSpend(table, accountId, `${dayBefore(2)}T10:00:00.000Z`, counters, { provider: 'groq' });
  const args = [accountKey, 'groq', '--from', dayBefore(2), '--to', dayBefore(2), '--table', table.name];
  const { stdout } = await runOps('reconcile', args, { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } });
  expect(stdout.split('\n')[2]).toBe(`recorded  ${recorded}`);
});

it('npm run reconcile refuses more days than are compared', async () => {
  const { accountKey } = await newAccount(table);
  const args = [accountKey, 'groq', '--from', '2025-11-01', '--to', '2026-11-01', '--table', table.name];
  expect(await runOps('reconcile', args, { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'to: must be at most 92 days from the first\n',
  });
});

it.each(['reconcile', 'reprice', 'exports'])(
  'npm run %s shows no figures of an account that is not there',
  async (name) => {
    const account = '018f0000-0000-7000-8000-000000000000';
    const range = ['--from', dayBefore(2), '--to', dayBefore(2), '--table', table.name];
    const args = name === 'reconcile' ? [account, 'groq', ...range] : [...range, '--account', account];
    expect(await runOps(name, args, { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no such account.\n',
    });
  },
);
