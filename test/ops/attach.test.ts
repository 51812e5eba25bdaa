import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, urlOf } from '../../fixtures/listen.ts';
import {
  type CodingToolId,
  codingTools,
  contentText,
  type FileContent,
  type SetUp,
} from '../../lambda/domain/coding-tools.ts';
import { mergeFile } from '../../ops/attach/tool-file.ts';
import { gatewayForTests } from '../gateway/gateway-for-tests.ts';
import { KEYS } from '../gateway/gateway-host.ts';
import { runOps } from './run-command.ts';

const KEY = KEYS.active;
const access = { urlOf: (label: string) => `https://${label}.gateway.example.com`, serviceKey: KEY };
const contentOf = (id: CodingToolId): FileContent => {
  const [file] = (codingTools[id].setUp(access) as SetUp).files ?? [];
  if (!file) throw new Error(`${id} has no file`);
  return file.content;
};
const toml = contentOf('codex');
const json = contentOf('claude');
const env = contentOf('gemini');

describe('a set-up in a file', () => {
  it.each([
    ['JSON', json],
    ['TOML', toml],
    ['variables', env],
  ])('of %s is written once, also where there is none', (_, content) => {
    const { text, changed } = mergeFile('', content);
    expect(text.trim()).toBe(contentText(content));
    expect(changed.length).toBeGreaterThan(0);
    expect(mergeFile(text, content)).toEqual({ text, changed: [] });
  });

  it('of JSON keeps everything else, and the indent', () => {
    const before =
      '{\n    "model": "opus",\n    "env": { "A": "1", "ANTHROPIC_BASE_URL": "https://old.example.com" }\n}\n';
    const { text, changed } = mergeFile(before, json);
    expect(changed).toEqual(['env.ANTHROPIC_BASE_URL', 'env.ANTHROPIC_CUSTOM_HEADERS']);
    expect(text).toMatch(/^\{\n {4}"model": "opus",/);
    expect(JSON.parse(text)).toMatchObject({
      model: 'opus',
      env: { A: '1', ANTHROPIC_BASE_URL: 'https://anthropic.gateway.example.com' },
    });
  });

  it('of JSON keeps the other entries of a list, and what else is in its own', () => {
    const before = JSON.stringify({
      customModels: [
        { id: 'custom:mine', model: 'llama' },
        { id: 'custom:gateway', baseUrl: 'https://old.example.com', noImageSupport: true },
      ],
    });
    const { text, changed } = mergeFile(before, contentOf('droid'));
    expect(changed).toContain('customModels[custom:gateway].baseUrl');
    expect(JSON.parse(text)).toEqual({
      customModels: [
        { id: 'custom:mine', model: 'llama' },
        expect.objectContaining({ baseUrl: 'https://openai.gateway.example.com/v1', noImageSupport: true }),
      ],
    });
    expect(mergeFile(text, contentOf('droid'))).toEqual({ text, changed: [] });
  });

  it('of TOML keeps comments and other tables', () => {
    const before = `# mine
notes = '''
mine
'''
model = "gpt-5"
model_provider = "openai"

[model_providers.gateway]
base_url = "https://old.example.com"
query_params = { a = "b" }

[analytics] # last
enabled = false
`;
    const { text, changed } = mergeFile(before, toml);
    expect(changed).toEqual(
      [
        'model_provider',
        ...['base_url', 'name', 'env_key', 'wire_api', 'http_headers'].map((name) => `model_providers.gateway.${name}`),
      ].toSorted((a, b) => changed.indexOf(a) - changed.indexOf(b)),
    );
    expect(text).toMatch(
      /^# mine\nnotes = '''\nmine\n'''\nmodel = "gpt-5"\nmodel_provider = "gateway"\n\n\[analytics\] # last\nenabled = false\n/,
    );
    expect(text).toContain('query_params = { a = "b" }');
    expect(text).not.toContain('old.example.com');
    expect(mergeFile(text, toml)).toEqual({ text, changed: [] });
  });

  it('of variables replaces its own, exported or not', () => {
    const before = '# keys\nexport GOOGLE_GEMINI_BASE_URL=https://old.example.com\nGEMINI_API_KEY=AIza\n';
    expect(mergeFile(before, env).text).toBe(
      `# keys\nGOOGLE_GEMINI_BASE_URL=https://google.gateway.example.com/${KEY}\nGEMINI_API_KEY=AIza\n`,
    );
  });

  it('of TOML knows its table by a header with a comment, too', () => {
    const { text } = mergeFile('[model_providers.gateway] # ours\nbase_url = "https://old.example.com"\n', toml);
    expect(text.match(/model_providers\.gateway/g)).toHaveLength(1);
    expect(text).not.toContain('old.example.com');
  });

  it.each([
    ['{ // mine\n}', json, /plain JSON/],
    ['[]', json, /no JSON object/],
    ['instructions = """\n[style]\nBe short."""\n', toml, /several lines/],
    ['args = [\n  [1],\n]\n', toml, /several lines/],
    ['[model_providers.gateway.http_headers]\nX-Team = "a"\n', toml, /by hand/],
  ])('is not written where something would be lost: %s', (before, content, message) => {
    expect(() => mergeFile(before, content)).toThrow(message);
  });
});

it('is in docs/clients.md as the commands print it', async () => {
  const docs = await readFile('docs/clients.md', 'utf8');
  for (const id of Object.keys(codingTools)) expect(docs).toContain(`\`${id}\``);
  for (const tool of [codingTools.claude, codingTools.codex]) {
    for (const { path, content } of tool.setUp({ ...access, serviceKey: 'svc_…' }).files) {
      expect(docs).toContain(`~/${path}`);
      expect(docs).toContain(`\n${contentText(content)}\n\`\`\``);
    }
  }
});

describe('npm run attach', () => {
  const { origin, host } = gatewayForTests();
  let home: string;
  const dashboard = createServer((request, response) => {
    const isKnown =
      request.headers.authorization === 'Bearer sat_test' &&
      /^\/api\/machine\/requests\/[\w-]+$/.test(request.url ?? '');
    const record = { client: null, model: 'claude-haiku-4-5', inputTokens: 9, outputTokens: 4, costUsd: '0.000029' };
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify(isKnown ? { ...record, provenance: 'computed' } : {}));
  });
  beforeAll(async () => {
    origin.script = (_, response) => response.end('{}');
    await listen(dashboard);
  });
  afterAll(() => void dashboard.close());
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'attach-'));
  });

  const attach = async (args: string[], variables: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await runOps(
      'attach',
      [...args, '--gateway', `http://127.0.0.1:${host.port}/gateway/{label}`, '--home', home],
      { env: { SERVICE_KEY: KEY, ANTHROPIC_API_KEY: 'sk-ant-test', ...variables } },
    );
    return { code, output: stdout + stderr };
  };

  it('prints the set-up, makes one call, and shows its record', async () => {
    const { code, output } = await attach(['claude'], {
      AI_SPEND_URL: urlOf(dashboard),
      AI_SPEND_TOKEN: 'sat_test',
    });
    expect(output).toContain(`"ANTHROPIC_CUSTOM_HEADERS": "X-Service-Key: ${KEY}"`);
    expect(output).toContain('The provider responded 200 through the gateway.');
    expect(output).toContain('On record: claude-haiku-4-5, 9 tokens in, 4 out, $0.000029 (computed).');
    expect(code).toBe(0);
    expect(origin.received.at(-1)).toMatchObject({ url: '/v1/messages' });
  });

  it('writes the set-up, which the check then finds', async () => {
    await writeFile(join(home, '.claude.json'), '{}');
    expect(await attach(['claude', '--check', '--no-call'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('~/.claude/settings.json lacks, or has another: env.ANTHROPIC_BASE_URL'),
    });
    const path = join(home, '.claude/settings.json');
    expect(await attach(['claude', '--write', '--dry-run'])).toMatchObject({ code: 0 });
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(await attach(['claude', '--write', '--no-call'])).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      env: { ANTHROPIC_BASE_URL: `http://127.0.0.1:${host.port}/gateway/anthropic` },
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await attach(['claude', '--check', '--no-call'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('~/.claude/settings.json has the set-up.'),
    });
  });

  it('keeps the file of a full disk, and replaces what a link leads to', async () => {
    const [path, linked] = [join(home, '.claude/settings.json'), join(home, 'linked.json')];
    await mkdir(join(home, '.claude'));
    await writeFile(linked, '{"model":"opus"}');
    await symlink(linked, path);
    const args = ['claude', '--write', '--no-call', '--gateway', 'http://127.0.0.1:1/{label}', '--home', home];
    const onDisk = async (limit: string) => {
      // No file may be larger than that.
      const command = `ulimit -f ${limit}; exec "$0" ops/attach.ts "$@"`;
      const child = spawn('sh', ['-c', command, process.execPath, ...args], {
        env: { ...process.env, SERVICE_KEY: KEY },
        stdio: 'ignore',
      });
      await once(child, 'exit');
      return JSON.parse(await readFile(linked, 'utf8'));
    };
    expect(await onDisk('0')).toEqual({ model: 'opus' });
    expect(await onDisk('unlimited')).toMatchObject({ model: 'opus', env: expect.anything() });
    expect(await realpath(path)).toBe(await realpath(linked));
  });

  it('checks a set-up in the environment', async () => {
    const check = (variables?: Record<string, string>) => attach(['copilot', '--check', '--no-call'], variables);
    expect(await check()).toMatchObject({
      code: 1,
      output: expect.stringContaining('COPILOT_PROVIDER_BASE_URL, COPILOT_PROVIDER_HEADERS, COPILOT_MODEL.'),
    });
    const urlOf = (label: string) => `http://127.0.0.1:${host.port}/gateway/${label}`;
    const set = codingTools.copilot.setUp({ urlOf, serviceKey: KEY }).environment;
    expect(await check(set)).toMatchObject({ code: 0 });
  });

  it.each([
    ['a key of no account', { SERVICE_KEY: KEYS.absent }, 'The gateway refuses the call'],
    ['a key that was not copied whole', { SERVICE_KEY: KEY.slice(0, -1) }, 'was it copied whole?'],
    ['no key', { SERVICE_KEY: '' }, 'Set SERVICE_KEY'],
  ])('says what is wrong: %s', async (_, variables, message) => {
    const { code, output } = await attach(['claude'], variables);
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  });

  it('leaves a file that it cannot read as it is, and says what to do', async () => {
    await attach(['opencode', '--write', '--no-call']);
    const path = join(home, '.config/opencode/opencode.json');
    await writeFile(path, '{ // mine\n}');
    const { code, output } = await attach(['opencode', '--write', '--no-call']);
    expect([code, output]).toEqual([1, expect.stringContaining('add the members by hand')]);
    expect(await readFile(path, 'utf8')).toBe('{ // mine\n}');
  });
});
