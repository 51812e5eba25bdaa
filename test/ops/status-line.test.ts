import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
let metrics: string | undefined;
let requests: string[];
let home: string;
const server = createServer(({ url, headers }, response) => {
  requests.push(`${url} ${headers.authorization}`);
  response.writeHead(metrics === undefined ? 503 : 200).end(metrics);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});
beforeEach(async () => {
  requests = [];
  home = await mkdtemp(join(tmpdir(), 'status-line-'));
});
afterEach(() => rm(home, { recursive: true }));

const statusLine = async () => {
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    AI_SPEND_URL: `http://127.0.0.1:${port}`,
    AI_SPEND_TOKEN: 'sat_1',
  };
  return (await run('ops/status-line.sh', { env })).stdout;
};

const cost = (period: string, provenance: string, usd: string) =>
  `ai_spend_cost_usd{period="${period}",provider="openai",provenance="${provenance}"} ${usd}\n`;
const unknown = (requestsOfToday: number) =>
  `ai_spend_unknown_cost_requests{period="today",provider="xai"} ${requestsOfToday}\n`;
const budget = (name: string, amount: number, used: number) =>
  `ai_spend_budget_amount_usd{budget_id="${name}",budget="${name}"} ${amount}\nai_spend_budget_used_usd{budget_id="${name}",budget="${name}"} ${used}\n`;

describe('ops/status-line.sh', () => {
  it.each([
    [
      `${cost('today', 'computed', '1.2')}${cost('today', 'estimated', '0.04')}${cost('month', 'computed', '9')}`,
      'AI $1.24 today',
    ],
    [`${cost('today', 'computed', '0.0021')}${unknown(2)}`, 'AI $0.0021 today + 2 of unknown cost'],
    [unknown(3), 'AI unknown cost today'],
    ['', 'AI $0.00 today'],
    [
      `${cost('today', 'computed', '1')}${budget('All of us', 50, 10)}${budget('Search', 2, 1.5)}`,
      'AI $1.00 today, $0.50 left of Search',
    ],
    [`${cost('today', 'computed', '1')}${budget('All', 1, 1.5)}`, 'AI $1.00 today, -$0.50 left of All'],
  ])('shows %j as %s', async (text, line) => {
    metrics = text;
    expect(await statusLine()).toBe(`${line}\n`);
    expect(requests).toEqual(['/api/machine/metrics Bearer sat_1']);
  });

  it('reads once a minute, and says so where nothing can be read', async () => {
    metrics = undefined;
    expect(await statusLine()).toBe('AI spend: unreachable\n');
    metrics = cost('today', 'computed', '1');
    expect(await statusLine()).toBe('AI $1.00 today\n');
    metrics = cost('today', 'computed', '2');
    expect(await statusLine()).toBe('AI $1.00 today\n');
    expect(requests).toHaveLength(2);
  });
});
