import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { runIdle, runOps } from './run-command.ts';

const commands = Object.entries(packageJson.scripts).flatMap(([name, line]) => {
  const [, file] = /^node .*?(\S+\.ts)$/.exec(line) ?? [];
  return file === undefined ? [] : [{ name, file }];
});
const docs = ['README.md', ...globSync('docs/*.md')].map((page) => readFileSync(page, 'utf8')).join('');

it.each(commands)(
  'npm run $name -- --help does nothing but say what it does, and a page names it',
  async ({ name, file }) => {
    const said = await runIdle(file, ['--help']);
    const usage = expect.stringMatching(new RegExp(`^npm (run )?${name}\\b[^]*\\n\\n`));
    expect(said).toEqual({ code: 0, stdout: usage, stderr: '' });
    expect(docs).toMatch(new RegExp(`npm (run )?${name}\\b`));
    const hasDryRun = readFileSync(file, 'utf8').includes("'dry-run': flag");
    expect(said.stdout.includes('--dry-run')).toBe(hasDryRun);
  },
);

const ACCOUNT = '018f0000-0000-7000-8000-000000000000';
const noRegularExpression = '--only: Invalid regular expression: /(/i: Unterminated group';
const refusals = [
  ['ops/fuzz.ts', ['--no-such-option'], "Unknown option '--no-such-option'"],
  ['ops/prices.ts', ['--feed', '--accept', '1', '--dry-run'], "Unknown option '--dry-run'"],
  ['ops/prices.ts', ['--at', 'yesterday'], expect.stringMatching(/^--at: /)],
  ['ops/meter.ts', ['--seed', 'x', 'FILE'], expect.stringMatching(/^--seed: /)],
  ['ops/reprice.ts', ['2026-11-20', '--from', '2026-11-20', '--to', '2026-11-20'], "Unexpected argument '2026-11-20'"],
  ['ops/cost.ts', ['--memory', '5'], '--memory: must be at least 128'],
  ['ops/create-owner.ts', ['--email', 'a@example.com', '--last-name', 'B'], '--first-name: is required'],
  ['ops/redrive.ts', ['--queue', 'usage'], '--queue or USAGE_QUEUE_URL must be a URL'],
  ['ops/account.ts', ['show'], 'An argument is missing.'],
  ['ops/query.ts', [' '], 'An argument is empty.'],
  ['test/clients/run.ts', ['--only', 'no such client'], '--only matches no client'],
  ['ops/exports.ts', ['--from', '9999-01-01', '--to', '9999-01-02'], '--from: is no closed day'],
  ['ops/reconcile.ts', [ACCOUNT, 'groq', '--from', '2026-11-02', '--to', '2026-11-01'], '--to: is before --from'],
  [
    'ops/restore-table.ts',
    ['carry', '--to', 'NEW', '--take', 'toy'],
    expect.stringMatching(/^--take: must be one of /),
  ],
  ['ops/smoke.ts', ['--gateway-url', 'x{label}', '--dashboard-url', 'http://x'], '--gateway-url: takes a URL'],
  ['test/clients/run.ts', ['--only', '('], noRegularExpression],
  ['test/faults/run.ts', ['--only', '('], noRegularExpression],
  ['bench/scale.ts', ['--samples', 'x'], '--samples: must be a number'],
  ['bench/scale.ts', ['--records', '10,x'], '--records: takes whole numbers above 0, with commas between'],
] as const;

it.each(refusals)('%s does nothing with %j', async (file, args, problem) => {
  const { code, stdout, stderr } = await runIdle(file, args);
  expect([code, stdout, stderr.split('\n')[0]]).toEqual([2, '', problem]);
  expect(stderr).toContain('\n\nnpm run ');
});

it('npm run bench hands what is wrong with an option on, and its exit code', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/path.ts', '--second', '1'], { encoding: 'utf8' });
  expect([status, stderr.split('\n')[0]]).toEqual([2, "Unknown option '--second'"]);
});

describe('a file that was named', () => {
  const file = (name: string, content: string) => {
    const path = join(tmpdir(), name);
    writeFileSync(path, content);
    return path;
  };
  const noFile = 'There is no file /no/file.';
  const notRecordings = expect.stringMatching(/^\/.* is no file of recordings/);
  const queue = 'http://127.0.0.1:9/queue';
  const cases = [
    ['replay', ['/no/file', '--queue', queue], noFile],
    ['replay', [tmpdir(), '--queue', queue], 'A file is needed where a folder was named.'],
    ['meter', ['/no/file'], noFile],
    ['meter', [file('empty.jsonl', '')], notRecordings],
    ['fuzz', ['/no/file'], noFile],
    ['fuzz', [file('blank.jsonl', '\n')], notRecordings],
    ['prices', ['--list', '/no/file'], noFile],
    ['prices', ['--list', file('list.json', '{')], expect.stringMatching(/^--list .*list.json is no JSON/)],
  ] as const;

  it.each(cases)('is needed: npm run %s %j', async (name, args, problem) => {
    const { code, stdout, stderr } = await runIdle(`ops/${name}.ts`, args);
    expect([code, stdout, stderr.trim()]).toEqual([1, '', problem]);
  });
});

const noCredentials = 'There are no AWS credentials that are in force: log in (aws login), or set AWS_PROFILE.';
const expired = createServer((_, response) =>
  response.writeHead(400).end(JSON.stringify({ __type: 'x#ExpiredTokenException', message: 'It is expired' })),
);
beforeAll(() => listen(expired));
afterAll(() => stopServer(expired));

it.each([
  ['There is no AWS region: set AWS_REGION.', () => ({ AWS_REGION: undefined })],
  [noCredentials, () => ({ AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' })],
  [noCredentials, () => ({ AWS_ENDPOINT_URL_DYNAMODB: urlOf(expired) })],
  [
    'The host none.invalid cannot be found: check the region, its endpoint, and the network of this machine.',
    () => ({ AWS_ENDPOINT_URL_DYNAMODB: 'http://none.invalid' }),
  ],
  [
    expect.stringContaining('Start that, and read its commands.env again.'),
    () => ({ AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }),
  ],
])('%s', async (problem, changed) => {
  const noFiles = { AWS_CONFIG_FILE: '/no/file', AWS_SHARED_CREDENTIALS_FILE: '/no/file' };
  const args = ['show', ACCOUNT, '--table', 'none'];
  const { code, stderr } = await runOps('account', args, { env: { ...noFiles, ...changed() } });
  expect({ code, stderr: stderr.trim() }).toEqual({ code: 1, stderr: problem });
});

it('npm run meter -- --expect compares only recordings that say what they expect', async () => {
  const { stdout } = await runOps('meter', ['--expect', 'ops/meter/seed-recordings.jsonl']);
  expect(stdout).toBe('{"compared":0,"matched":0,"differing":0}\n');
});

describe('npm run meter -- --prices FILE', () => {
  const write = (name: string, json: unknown) => {
    const file = join(tmpdir(), name);
    writeFileSync(file, JSON.stringify(json));
    return file;
  };
  const response = {
    id: 'r',
    provider: 'cohere',
    method: 'POST',
    path: '/compatibility/v1/chat/completions',
    req: { model: 'command-99' },
    status: 200,
    ctype: 'application/json',
    body: JSON.stringify({ model: 'command-99', usage: { prompt_tokens: 1_000, completion_tokens: 100 } }),
  };
  const recording = write('recording.jsonl', response);
  const coverage = async (...args: string[]) => {
    const { stdout } = await runOps('meter', ['--coverage', ...args]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  it('takes the prices of the file', async () => {
    const models = [{ id: 'command-99', match: { equals: 'command-99' }, prices: { input_mtok: 2, output_mtok: 8 } }];
    const prices = write('prices.json', [{ id: 'cohere', models }]);
    const rows = (row: object, ...providers: string[]) => providers.map((provider) => ({ provider, ...row }));
    const unknown = { unknown: 1, reasons: { 'No price is known for this model.': 1 }, unknownPercent: 100 };
    const known = { unknown: 0, reasons: {}, unknownPercent: 0 };
    expect(await coverage(recording)).toEqual(rows({ responses: 1, ...unknown }, 'cohere', 'the twelve'));
    expect(await coverage('--prices', prices, recording)).toEqual(
      rows({ responses: 1, ...known }, 'cohere', 'the twelve'),
    );
    const another = write('another.jsonl', { ...response, provider: 'cerebras' });
    expect(await coverage('--prices', prices, recording, another)).toEqual([
      ...rows({ responses: 1, ...unknown }, 'cerebras'),
      ...rows({ responses: 1, ...known }, 'cohere', 'the twelve'),
    ]);
    const { stdout } = await runOps('meter', ['--prices', prices, recording]);
    expect(JSON.parse(stdout)).toMatchObject({ costNanoUsd: 1_000 * 2_000 + 100 * 8_000 });
  });

  it('says why a file cannot be read', async () => {
    const wrong = write('wrong.json', { not: 'a list' });
    expect(await runOps('meter', ['--prices', wrong, recording])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^--prices .*wrong.json cannot be read/),
    });
  });
});
