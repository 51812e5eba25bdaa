import { dirname, join } from 'node:path';
import { type CodingTool, type CodingToolId, codingTools, shellLines } from '../../lambda/domain/coding-tools.ts';
import { mergeFile } from '../../ops/attach/tool-file.ts';
import { AGENTS_PROMPT, type Client, PROMPT, type Target } from './client.ts';

/** Coding agents and other programs of the command line. Each set-up is the one that docs/clients.md shows. */

const bin = (packagesDir: string, name: string): string => join(packagesDir, 'node_modules/.bin', name);

/** The set-up of a tool as `npm run attach -- --write` leaves it, in files that have what else the run needs. */
const setUpOf = (
  id: CodingToolId,
  { base, keyedBase, serviceKey }: Target,
  before: Readonly<Record<string, object | string>> = {},
) => {
  const tool: CodingTool = codingTools[id];
  const keyed = `${base(tool.provider)}/${serviceKey}`;
  const setUp = tool.setUp({ urlOf: base, serviceKey });
  // Called directly, a provider wants no service key in its path.
  const withKey = (text: string): string => text.replaceAll(keyed, keyedBase(tool.provider));
  return {
    files: Object.fromEntries(
      (setUp.files ?? []).map(({ path, content }) => {
        const there = before[path] ?? '';
        const text = typeof there === 'string' ? there : JSON.stringify(there);
        return [path, withKey(mergeFile(text, content).text)];
      }),
    ),
    commands: shellLines(setUp).map(withKey),
  };
};

const pathWith = ({ packagesDir }: Target, name: string): string =>
  `${dirname(bin(packagesDir, name))}:${dirname(process.execPath)}:${process.env['PATH']}`;

const claudeCodeBase = {
  attaches: 'header',
  folder: 'claude-code',
  packages: { '@anthropic-ai/claude-code': '2.1.332' },
} as const;
const claudeCode = (prompt: string) => (target: Target) => ({
  command: bin(target.packagesDir, 'claude'),
  args: ['-p', prompt],
  env: { ANTHROPIC_API_KEY: 'sk-ant-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
  files: setUpOf('claude', target).files,
});

const opencodeBase = { attaches: 'header', folder: 'opencode', packages: { 'opencode-ai': '1.18.33' } } as const;
const opencode = (prompt: string) => (target: Target) => ({
  command: bin(target.packagesDir, 'opencode'),
  args: ['run', '--model', 'openai/gpt-4o', prompt],
  env: { OPENAI_API_KEY: 'sk-test' },
  files: setUpOf('opencode', target, {
    '.config/opencode/opencode.json': { autoupdate: false, share: 'disabled' },
  }).files,
});

export const commandLineClients: readonly Client[] = [
  { ...claudeCodeBase, name: 'Claude Code', run: claudeCode(PROMPT) },
  { ...claudeCodeBase, name: 'Claude Code, two agents', run: claudeCode(AGENTS_PROMPT) },
  {
    name: 'Codex',
    attaches: 'header',
    folder: 'codex',
    packages: { '@openai/codex': '0.171.0' },
    run: (target) => ({
      command: bin(target.packagesDir, 'codex'),
      args: ['exec', '--skip-git-repo-check', PROMPT],
      env: { OPENAI_API_KEY: 'sk-test' },
      files: setUpOf('codex', target, {
        '.codex/config.toml': 'model = "gpt-4o"\n\n[analytics]\nenabled = false\n',
      }).files,
    }),
  },
  {
    name: 'Gemini CLI',
    attaches: 'path',
    folder: 'gemini',
    packages: { '@google/gemini-cli': '0.61.0' },
    run: (target) => ({
      command: bin(target.packagesDir, 'gemini'),
      args: ['--skip-trust', '-p', PROMPT],
      env: { GEMINI_API_KEY: 'AIza-test' },
      files: setUpOf('gemini', target, { '.gemini/settings.json': { privacy: { usageStatisticsEnabled: false } } })
        .files,
    }),
  },
  { ...opencodeBase, name: 'opencode', run: opencode(PROMPT) },
  { ...opencodeBase, name: 'opencode, two agents', run: opencode(AGENTS_PROMPT) },
  {
    name: 'Qwen Code',
    attaches: 'path',
    folder: 'qwen-code',
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    run: (target) => ({
      command: bin(target.packagesDir, 'qwen'),
      args: ['-p', PROMPT],
      env: { OPENAI_API_KEY: 'sk-test', OPENAI_MODEL: 'gpt-4o' },
      files: setUpOf('qwen', target, { '.qwen/settings.json': { privacy: { usageStatisticsEnabled: false } } }).files,
    }),
  },
  {
    name: 'pi',
    attaches: 'header',
    folder: 'pi',
    packages: { '@mariozechner/pi-coding-agent': '0.73.1' },
    run: (target) => ({
      command: bin(target.packagesDir, 'pi'),
      args: ['--provider', 'gateway', '--model', 'gpt-4o', '-p', PROMPT],
      env: { OPENAI_API_KEY: 'sk-test' },
      files: setUpOf('pi', target).files,
    }),
  },
  {
    name: 'Copilot CLI',
    attaches: 'header',
    folder: 'copilot',
    packages: { '@github/copilot': '1.0.102' },
    run: (target) => ({
      command: 'sh',
      args: ['-c', `${setUpOf('copilot', target).commands.join(' && ')} && copilot -p '${PROMPT}'`],
      env: { OPENAI_API_KEY: 'sk-test', COPILOT_OFFLINE: 'true', PATH: pathWith(target, 'copilot') },
    }),
  },
  {
    name: 'droid',
    attaches: 'header',
    folder: 'droid',
    packages: { droid: '0.215.0' },
    run: (target) => ({
      command: bin(target.packagesDir, 'droid'),
      args: ['exec', '-m', 'custom:gateway', PROMPT],
      // It wants a log-in of its maker's, which it does not check without a network.
      env: { OPENAI_API_KEY: 'sk-test', FACTORY_API_KEY: 'fk-test' },
      files: setUpOf('droid', target).files,
    }),
  },
  {
    name: 'Kilo CLI',
    attaches: 'header',
    folder: 'kilo',
    // 7.8.1 names programs that its registry does not have.
    packages: { '@kilocode/cli': '7.7.7' },
    run: (target) => ({
      command: bin(target.packagesDir, 'kilo'),
      args: ['run', '--model', 'openai/gpt-4o', PROMPT],
      env: { OPENAI_API_KEY: 'sk-test' },
      files: setUpOf('kilo', target, { '.config/kilo/kilo.json': { autoupdate: false, share: 'disabled' } }).files,
    }),
  },
  {
    name: 'grok-cli',
    // It has no setting for headers.
    attaches: 'path',
    folder: 'grok',
    packages: { '@vibe-kit/grok-cli': '0.0.34' },
    run: (target) => ({
      command: bin(target.packagesDir, 'grok'),
      args: ['-p', PROMPT, '-m', 'grok-4'],
      env: { GROK_API_KEY: 'xai-test', GROK_BASE_URL: `${target.keyedBase('xai')}/v1` },
    }),
  },
  {
    name: 'Cline CLI',
    attaches: 'path',
    folder: 'cline',
    packages: { cline: '3.0.65' },
    run: (target) => ({
      command: 'sh',
      args: ['-c', `${setUpOf('cline', target).commands.join(' && ')} && cline -P openai '${PROMPT}'`],
      env: {
        OPENAI_API_KEY: 'sk-test',
        PATH: pathWith(target, 'cline'),
      },
    }),
  },
  {
    name: 'Continue CLI',
    attaches: 'header',
    isRecognizable: false,
    folder: 'continue',
    packages: { '@continuedev/cli': '1.5.47' },
    run: (target) => ({
      command: bin(target.packagesDir, 'cn'),
      args: ['-p', PROMPT],
      env: {
        OPENAI_API_KEY: 'sk-test',
        CONTINUE_TELEMETRY_ENABLED: '0',
        CONTINUE_ALLOW_ANONYMOUS_TELEMETRY: '0',
      },
      files: setUpOf('continue', target).files,
    }),
  },
  {
    name: 'curl',
    attaches: 'header',
    run: ({ base, serviceKey }) => ({
      command: 'curl',
      args: [
        ...['-sS', '--fail', `${base('mistral')}/v1/chat/completions`],
        ...['-H', `X-Service-Key: ${serviceKey}`, '-H', 'Authorization: Bearer test'],
        ...['-H', 'Content-Type: application/json'],
        ...['-d', JSON.stringify({ model: 'mistral-small-latest', messages: [{ role: 'user', content: PROMPT }] })],
      ],
    }),
  },
  {
    name: 'curl, key in the credential',
    attaches: 'credential',
    run: ({ base, serviceKey }) => ({
      command: 'curl',
      args: [
        ...['-sS', '--fail', `${base('groq')}/openai/v1/chat/completions`],
        ...['-H', `Authorization: Bearer ${serviceKey}:test`, '-H', 'Content-Type: application/json'],
        ...['-d', JSON.stringify({ model: 'llama-3.3-70b-versatile', messages: [{ role: 'user', content: PROMPT }] })],
      ],
    }),
  },
];
