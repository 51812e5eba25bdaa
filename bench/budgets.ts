/**
 * What budgets add to a request at 50 requests a second: an account without budgets, with a `lagging` and with a `reserved` budget, and with
 * a limit of each of 10,000 users of which all but the sender are used up, in turn through one gateway process. The table is the emulator on this machine: a write takes longer or shorter on AWS.
 */

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import getPort from 'get-port';
import { emulatedTable } from '../fixtures/emulated-table.ts';
import { emulatorVariables } from '../fixtures/emulator-client.ts';
import { gatewayVariables } from '../fixtures/gateway-variables.ts';
import { openBlocks } from '../lambda/data/alerts/blocks.ts';
import { limitValueKey, serviceKeyKey } from '../lambda/data/table/keys.ts';
import { newAccountKey, secretHash } from '../lambda/domain/accounts/issued-secret.ts';
import { periodAt } from '../lambda/domain/calendar/periods.ts';
import { periodId } from '../lambda/domain/limits/reservation.ts';
import { cpuSeconds } from './relay/process.ts';
import { median, quantile, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const { seconds } = benchOptions('budgets', { seconds: 30 });
const RATE = 50;
const CPU_ROUNDS = 15;
const CPU_REQUESTS = 100;

const listen = async (respond: () => string): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(respond()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const provider = await listen(() => JSON.stringify({ model: 'gpt-4o', choices: [], usage }));
// The queue takes every event; the secret is the fingerprint's key.
const aws = await listen(() => JSON.stringify({ Failed: [], SecretString: 'key-of-the-bench' }));
const table = await emulatedTable();

const keyOf = async (accountId: string, hasBlocks: boolean): Promise<string> => {
  const serviceKey = newAccountKey(randomBytes);
  const Item = {
    ...serviceKeyKey(secretHash(serviceKey)),
    accountId,
    keyId: 'key-1',
    keyStatus: 'active',
    accountStatus: 'active',
    ...(hasBlocks && { withoutBlocks: 'pass' }),
  };
  await table.call('PutItem', { TableName: table.name, Item });
  return serviceKey;
};
const serviceKeys = {
  none: await keyOf('account-none', false),
  lagging: await keyOf('account-lagging', true),
  reserved: await keyOf('account-reserved', true),
  'each lagging': await keyOf('account-each-lagging', true),
  'each reserved': await keyOf('account-each-reserved', true),
};
const budget = { id: 'budget-1', name: 'Bench', scope: {}, period: 'monthly', unknownCost: 'pass' } as const;
await openBlocks(table).change('account-reserved', (blocks) => ({
  ...blocks,
  reserved: [{ ...budget, amountNanoUsd: 1e15, limitNanoUsd: 1e15, onUnavailable: 'pass' }],
}));

const VALUES = 10_000;
const SENDER = 'user-0';
for (const enforcement of ['lagging', 'reserved'] as const) {
  const accountId = `account-each-${enforcement}`;
  const amounts = { amountNanoUsd: 1e15, groups: [], percent: 100 };
  const effects = { enforcement, onUnavailable: 'pass', showsRemaining: false, notifyAt: [], askUrl: '' } as const;
  const limit = { ...budget, ...amounts, ...effects, each: 'dim:user' } as const;
  await openBlocks(table).change(accountId, (blocks) => ({ ...blocks, each: [limit] }));
  const month = periodId(periodAt('monthly', new Date()));
  for (let n = 1; n < VALUES; n++) {
    const Item = { ...limitValueKey(accountId, budget.id, month, `user-${n}`), committed: 1e15, finished: 1e15 };
    await table.call('PutItem', { TableName: table.name, Item });
  }
}

const port = await getPort();
const gateway = fork(new URL('./relay/gateway-process.ts', import.meta.url), {
  env: {
    PATH: process.env['PATH'],
    PORT: String(port),
    ...emulatorVariables,
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_SQS: aws,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws,
    TABLE_NAME: table.name,
    USAGE_QUEUE_URL: `${aws}/000000000000/usage`,
    ...gatewayVariables(provider, 900),
  },
  execArgv: ['--disable-warning=ExperimentalWarning'],
});

const body = JSON.stringify({ model: 'gpt-4o', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] });
const send = async (serviceKey: string): Promise<number> => {
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'X-Service-Key': serviceKey,
      Authorization: 'Bearer sk-bench',
      'Content-Type': 'application/json',
      'X-Service-Metadata': JSON.stringify({ user: SENDER }),
    },
    body,
  });
  await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return performance.now() - startedAt;
};

while (true) {
  try {
    for (const key of Object.values(serviceKeys)) for (let i = 0; i < 50; i++) await send(key);
    break;
  } catch {
    await sleep(50);
  }
}

const names = Object.keys(serviceKeys) as (keyof typeof serviceKeys)[];
const taken = new Map(names.map((name) => [name, [] as number[]]));
const startedAt = performance.now();
const pending: Promise<unknown>[] = [];
for (let n = 0; n < RATE * seconds; n++) {
  await sleep(Math.max(0, startedAt + (n * 1_000) / RATE - performance.now()));
  const name = names[n % names.length] as keyof typeof serviceKeys;
  pending.push(send(serviceKeys[name]).then((ms) => taken.get(name)?.push(ms)));
}
await Promise.all(pending);

/** Processor time of the gateway for each request, in turns, so that what else the machine does is the same for all. */
const cpuMs = new Map(names.map((name) => [name, [] as number[]]));
for (let round = 0; round < CPU_ROUNDS; round++)
  for (const name of names) {
    const before = cpuSeconds(gateway.pid as number);
    for (let n = 0; n < CPU_REQUESTS; n++) await send(serviceKeys[name]);
    cpuMs.get(name)?.push(((cpuSeconds(gateway.pid as number) - before) / CPU_REQUESTS) * 1_000);
  }

const direct = taken.get('none') ?? [];
const directCpuMs = median(cpuMs.get('none') ?? []);
report(
  'budgets',
  { rate: RATE, seconds },
  [...taken].map(([budgets, ms]) => ({
    budgets,
    requests: ms.length,
    'p50 ms': rounded(median(ms), 2),
    'p99 ms': rounded(quantile(ms, 0.99), 2),
    'p50 added ms': rounded(median(ms) - median(direct), 2),
    'x none': rounded(median(ms) / median(direct), 2),
    'CPU added ms': rounded(median(cpuMs.get(budgets) ?? []) - directCpuMs, 3),
  })),
);
gateway.kill();
await once(gateway, 'exit');
await table.stop();
process.exit(0);
