import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { runOps } from './run-command.ts';

it('an option that a command does not have is an error', async () => {
  const typo = await runOps('fuzz', ['--no-such-option']);
  expect(typo).toMatchObject({ code: 2, stdout: '' });
  expect(typo.stderr).toMatch(/^Unknown option '--no-such-option'[\s\S]*npm run fuzz -- /);
});

const commands = Object.entries(packageJson.scripts).flatMap(([name, line]) => {
  const [, file] = /^node .*?(\S+\.ts)$/.exec(line) ?? [];
  return file === undefined ? [] : [{ name, file }];
});
const docs = ['README.md', ...globSync('docs/*.md')].map((page) => readFileSync(page, 'utf8')).join('');

const said = (() => {
  const files = commands.map(({ file }) => resolve(file));
  const { stdout } = spawnSync(process.execPath, ['test/ops/ask-for-help.js', ...files], { encoding: 'utf8' });
  return JSON.parse(stdout);
})();

it.each(commands)(
  'npm run $name -- --help does nothing but say what it does, and a page names it',
  ({ name, file }) => {
    expect(said[resolve(file)]).toEqual({
      status: 0,
      stdout: expect.stringMatching(new RegExp(`^npm (run )?${name}\\b[^]*\\n\\n`)),
    });
    expect(docs).toMatch(new RegExp(`npm (run )?${name}\\b`));
    const hasDryRun = readFileSync(file, 'utf8').includes("'dry-run': flag");
    expect(said[resolve(file)].stdout.includes('--dry-run')).toBe(hasDryRun);
  },
);

it.each([
  ['prices', ['--feed', '--accept', '1', '--dry-run'], "Unknown option '--dry-run'"],
  ['reprice', ['2026-11-20', '--from', '2026-11-20', '--to', '2026-11-20'], "Unexpected argument '2026-11-20'"],
  ['cost', ['--memory', '5'], '--memory: must be at least 128'],
  ['create-owner', ['--email', 'a@example.com', '--last-name', 'B'], '--first-name: is required'],
  ['redrive', ['--queue', 'usage'], '--queue or USAGE_QUEUE_URL must be a URL'],
  ['account', ['show'], 'An argument is missing.'],
  ['exports', ['--from', '9999-01-01', '--to', '9999-01-02'], '--from: is no closed day'],
] as const)('npm run %s does nothing with %j', async (name, args, problem) => {
  const result = await runOps(name, args, { env: { TABLE_NAME: 'none' } });
  expect({ ...result, stderr: result.stderr.split('\n')[0] }).toEqual({ code: 2, stdout: '', stderr: problem });
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

  it.each([
    ['replay', ['/no/file', '--queue', queue], noFile],
    ['replay', [tmpdir(), '--queue', queue], 'A file is needed where a folder was named.'],
    ['meter', ['/no/file'], noFile],
    ['meter', [file('empty.jsonl', '')], notRecordings],
    ['fuzz', ['/no/file'], noFile],
    ['fuzz', [file('blank.jsonl', '\n')], notRecordings],
    ['prices', ['--list', '/no/file'], noFile],
    ['prices', ['--list', file('list.json', '{')], expect.stringMatching(/^--list .*list.json is no JSON/)],
  ])('is needed: npm run %s %j', async (name, args, problem) => {
    const { code, stdout, stderr } = await runOps(name, args);
    expect({ code, stdout, stderr: stderr.trim() }).toEqual({ code: 1, stdout: '', stderr: problem });
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
  const args = ['show', '018f0000-0000-7000-8000-000000000000', '--table', 'none'];
  const { code, stderr } = await runOps('account', args, { env: { ...noFiles, ...changed() } });
  expect({ code, stderr: stderr.trim() }).toEqual({ code: 1, stderr: problem });
});

it.each([
  ['test/clients/run.ts', ['--only', '('], '--only: Invalid regular expression: /(/i: Unterminated group'],
  ['test/faults/run.ts', ['--only', '('], '--only: Invalid regular expression: /(/i: Unterminated group'],
  ['bench/scale.ts', ['--samples', 'x'], '--samples: must be a number'],
  ['bench/scale.ts', ['--records', '10,x'], '--records: takes whole numbers above 0, with commas between'],
  ['bench/path.ts', ['--second', '1'], "Unknown option '--second'"],
])('%s does nothing with %j', (file, args, problem) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  expect({ status, stdout, problem: stderr.split('\n')[0] }).toEqual({ status: 2, stdout: '', problem });
  expect(stderr).toContain('\n\nnpm run ');
});

it('a wrong value is reported with its option', async () => {
  const [meter, prices] = await Promise.all([
    runOps('meter', ['--seed', 'x', 'FILE']),
    runOps('prices', ['--at', 'yesterday']),
  ]);
  expect(meter).toMatchObject({ code: 2, stderr: expect.stringContaining('--seed: ') });
  expect(prices).toMatchObject({ code: 2, stderr: expect.stringContaining('--at: ') });
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
