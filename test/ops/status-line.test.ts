import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, portOf } from '../../fixtures/listen.ts';

const run = promisify(execFile);
/** What a token gets: metrics, or a status other than 200. */
let responses: Readonly<Record<string, string | number>>;
let requests: string[];
let home: string;
const server = createServer(({ url, headers }, response) => {
  requests.push(`${url} ${headers.authorization}`);
  const found = responses[headers.authorization?.replace('Bearer ', '') ?? ''] ?? 503;
  response.writeHead(typeof found === 'number' ? found : 200).end(typeof found === 'number' ? '<p>' : found);
});

beforeAll(() => listen(server));
afterAll(() => {
  server.close();
});
beforeEach(async () => {
  requests = [];
  responses = {};
  home = await mkdtemp(join(tmpdir(), 'status-line-'));
});

/** @param seconds how much later the script's clock is */
const statusLine = async ({ token = 'sat_1', host = '127.0.0.1', seconds = 0 } = {}) => {
  const port = portOf(server);
  await writeFile(join(home, 'date'), `#!/bin/sh\nexec /bin/date -d "${NOON} UTC + ${seconds} seconds" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    PATH: `${home}:${process.env['PATH']}`,
    HOME: home,
    AI_SPEND_URL: `http://${host}:${port}`,
    AI_SPEND_TOKEN: token,
  };
  return (await run('ops/status-line.sh', { env })).stdout.trimEnd();
};

const NOON = '2026-11-20 12:00:00';
const HOUR = 3_600;
const DAY = 24 * HOUR;

const metrics = (...lines: string[]) =>
  `# HELP ai_spend_cost_usd Known cost.\n# TYPE ai_spend_cost_usd gauge\n${lines.join('')}`;
const cost = (period: string, provenance: string, usd: string) =>
  `ai_spend_cost_usd{period="${period}",provider="openai",provenance="${provenance}"} ${usd}\n`;
const unknown = (requestsOfToday: number) =>
  `ai_spend_unknown_cost_requests{period="today",provider="xai"} ${requestsOfToday}\n`;
const budget = (name: string, amount: number, used: number, id = name) =>
  `ai_spend_budget_amount_usd{budget_id="${id}",budget="${name}"} ${amount}\nai_spend_budget_used_usd{budget_id="${id}",budget="${name}"} ${used}\n`;
const today = (usd: string) => metrics(cost('today', 'computed', usd));

describe('ops/status-line.sh', () => {
  it.each([
    [
      [cost('today', 'computed', '1.2'), cost('today', 'estimated', '0.04'), cost('month', 'computed', '9')],
      'AI $1.24 today',
    ],
    [[cost('today', 'computed', '0.0021'), unknown(2)], 'AI $0.0021 today + 2 of unknown cost'],
    [[unknown(3)], 'AI unknown cost today'],
    [[], 'AI $0.00 today'],
    [
      [cost('today', 'computed', '1'), budget('All of us', 50, 10), budget('Search', 2, 1.5)],
      'AI $1.00 today, $0.50 left of Search',
    ],
    [[cost('today', 'computed', '1'), budget('All', 1, 1.5)], 'AI $1.00 today, -$0.50 left of All'],
    [[budget('Team', 10, 9, 'a'), budget('Team', 10, 1, 'b')], 'AI $0.00 today, $1.00 left of Team'],
    [[budget('Team \\"A\\" \\\\ €', 10, 1)], 'AI $0.00 today, $9.00 left of Team "A" \\ €'],
  ])('shows %j as %s', async (lines, line) => {
    responses = { sat_1: metrics(...lines) };
    expect(await statusLine()).toBe(line);
    expect(requests).toEqual(['/api/machine/metrics Bearer sat_1']);
  });

  it('reads once a minute, whether it can read or not', async () => {
    expect(await statusLine()).toBe('AI spend unknown: unreachable (HTTP 503)');
    responses = { sat_1: today('1') };
    expect(await statusLine({ seconds: 59 })).toBe('AI spend unknown: unreachable (HTTP 503)');
    expect(await statusLine({ seconds: 60 })).toBe('AI $1.00 today');
    responses = { sat_1: today('2') };
    expect(await statusLine({ seconds: 119 })).toBe('AI $1.00 today');
    expect(await statusLine({ seconds: 120 })).toBe('AI $2.00 today');
    expect(requests).toHaveLength(3);
  });

  it('shows each token and address its own spend', async () => {
    responses = { sat_1: today('15.81'), sat_2: today('0.0005') };
    expect(await statusLine()).toBe('AI $15.81 today');
    expect(await statusLine({ token: 'sat_2' })).toBe('AI $0.0005 today');
    responses = { sat_1: today('7') };
    expect(await statusLine({ host: 'localhost' })).toBe('AI $7.00 today');
    expect(await statusLine()).toBe('AI $15.81 today');
  });

  it('keeps what it read for its user alone, in files that do not name the token', async () => {
    responses = { sat_1: today('1') };
    await statusLine();
    const files = await readdir(join(home, '.cache'));
    expect(files).toEqual([expect.stringMatching(/^ai-spend-status-[0-9a-f]{64}$/)]);
    for (const file of files) {
      expect((await stat(join(home, '.cache', file))).mode & 0o777).toBe(0o600);
      expect(await readFile(join(home, '.cache', file), 'utf8')).not.toContain('sat_1');
    }
  });

  it('says how old a figure is that it cannot read anew, and shows none of another day', async () => {
    responses = { sat_1: metrics(cost('today', 'computed', '1'), budget('All', 5, 1)) };
    await statusLine();
    responses = { sat_1: 503 };
    expect(await statusLine({ seconds: 60 })).toBe('AI $1.00 today, $4.00 left of All (1 min ago)');
    expect(await statusLine({ seconds: 3 * HOUR + 100 })).toBe('AI $1.00 today, $4.00 left of All (3 h ago)');
    expect(await statusLine({ seconds: 3 * DAY })).toBe('AI spend unknown: unreachable (HTTP 503), last read 3 d ago');
  });

  it('reads anew when the day begins', async () => {
    responses = { sat_1: today('9') };
    expect(await statusLine({ seconds: 12 * HOUR - 1 })).toBe('AI $9.00 today');
    responses = { sat_1: today('0.5') };
    expect(await statusLine({ seconds: 12 * HOUR })).toBe('AI $0.50 today');
  });

  it.each([401, 403])('says that it is refused (%d), and forgets what it read before', async (status) => {
    responses = { sat_1: today('15.81') };
    await statusLine();
    responses = { sat_1: status };
    expect(await statusLine({ seconds: 60 })).toBe(`AI spend unknown: token refused (HTTP ${status})`);
    responses = {};
    expect(await statusLine({ seconds: 120 })).toBe('AI spend unknown: unreachable (HTTP 503)');
  });

  it('takes no other page for a day without spend', async () => {
    responses = { sat_1: '<!doctype html>' };
    expect(await statusLine()).toBe('AI spend unknown: unreachable (no metrics)');
  });
});
