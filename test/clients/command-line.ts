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

interface Program extends Omit<Client, 'run' | 'attaches'> {
  /** Default: by header. */
  readonly attaches?: Client['attaches'];
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What `npm run attach` sets up, and what its files had before. */
  readonly setUp?: CodingToolId;
  readonly before?: Readonly<Record<string, object | string>>;
}

/** A program that npm installs. */
const installed = ({ attaches = 'header', command, args, env, setUp, before, ...client }: Program): Client => ({
  ...client,
  attaches,
  run: (target) => ({
    command: bin(target.packagesDir, command),
    args,
    env,
    ...(setUp && { files: setUpOf(setUp, target, before).files }),
  }),
});

/** A program that takes its set-up from commands before its own. */
const inShell = (program: Omit<Program, 'args'> & { readonly setUp: CodingToolId; readonly run: string }): Client => {
  const { attaches = 'header', command, env, setUp, run, ...client } = program;
  return {
    ...client,
    attaches,
    run: (target) => ({
      command: 'sh',
      args: ['-c', `${setUpOf(setUp, target).commands.join(' && ')} && ${run}`],
      env: { ...env, PATH: pathWith(target, command) },
    }),
  };
};

const openaiKey = { OPENAI_API_KEY: 'sk-test' };
const offline = { autoupdate: false, share: 'disabled' };
const noStatistics = { privacy: { usageStatisticsEnabled: false } };

const claudeCode = (name: string, prompt: string) =>
  installed({
    name,
    folder: 'claude-code',
    packages: { '@anthropic-ai/claude-code': '2.1.332' },
    command: 'claude',
    args: ['-p', prompt],
    setUp: 'claude',
    env: { ANTHROPIC_API_KEY: 'sk-ant-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
  });

const opencode = (name: string, prompt: string) =>
  installed({
    name,
    folder: 'opencode',
    packages: { 'opencode-ai': '1.18.33' },
    env: openaiKey,
    command: 'opencode',
    args: ['run', '--model', 'openai/gpt-4o', prompt],
    setUp: 'opencode',
    before: { '.config/opencode/opencode.json': offline },
  });

export const commandLineClients: readonly Client[] = [
  claudeCode('Claude Code', PROMPT),
  claudeCode('Claude Code, two agents', AGENTS_PROMPT),
  installed({
    name: 'Codex',
    folder: 'codex',
    packages: { '@openai/codex': '0.171.0' },
    command: 'codex',
    args: ['exec', '--skip-git-repo-check', PROMPT],
    env: openaiKey,
    setUp: 'codex',
    before: { '.codex/config.toml': 'model = "gpt-4o"\n\n[analytics]\nenabled = false\n' },
  }),
  installed({
    name: 'Gemini CLI',
    attaches: 'path',
    folder: 'gemini',
    packages: { '@google/gemini-cli': '0.61.0' },
    command: 'gemini',
    args: ['--skip-trust', '-p', PROMPT],
    env: { GEMINI_API_KEY: 'AIza-test' },
    setUp: 'gemini',
    before: { '.gemini/settings.json': noStatistics },
  }),
  opencode('opencode', PROMPT),
  opencode('opencode, two agents', AGENTS_PROMPT),
  installed({
    name: 'Qwen Code',
    attaches: 'path',
    folder: 'qwen-code',
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    command: 'qwen',
    args: ['-p', PROMPT],
    env: { ...openaiKey, OPENAI_MODEL: 'gpt-4o' },
    setUp: 'qwen',
    before: { '.qwen/settings.json': noStatistics },
  }),
  installed({
    name: 'pi',
    folder: 'pi',
    packages: { '@mariozechner/pi-coding-agent': '0.73.1' },
    ...{
      command: 'pi',
      args: ['--provider', 'gateway', '--model', 'gpt-4o', '-p', PROMPT],
      env: openaiKey,
      setUp: 'pi',
    },
  }),
  inShell({
    name: 'Copilot CLI',
    folder: 'copilot',
    packages: { '@github/copilot': '1.0.102' },
    command: 'copilot',
    run: `copilot -p '${PROMPT}'`,
    setUp: 'copilot',
    env: { ...openaiKey, COPILOT_OFFLINE: 'true' },
  }),
  installed({
    name: 'droid',
    folder: 'droid',
    packages: { droid: '0.215.0' },
    command: 'droid',
    args: ['exec', '-m', 'custom:gateway', PROMPT],
    setUp: 'droid',
    // It wants a log-in of its maker's, which it does not check without a network.
    env: { ...openaiKey, FACTORY_API_KEY: 'fk-test' },
  }),
  installed({
    // 7.8.1 names programs that its registry does not have.
    name: 'Kilo CLI',
    folder: 'kilo',
    packages: { '@kilocode/cli': '7.7.7' },
    env: openaiKey,
    command: 'kilo',
    args: ['run', '--model', 'openai/gpt-4o', PROMPT],
    setUp: 'kilo',
    before: { '.config/kilo/kilo.json': offline },
  }),
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
  inShell({
    name: 'Cline CLI',
    attaches: 'path',
    folder: 'cline',
    packages: { cline: '3.0.65' },
    env: openaiKey,
    command: 'cline',
    run: `cline -P openai '${PROMPT}'`,
    setUp: 'cline',
  }),
  installed({
    name: 'Continue CLI',
    isRecognizable: false,
    folder: 'continue',
    packages: { '@continuedev/cli': '1.5.47' },
    command: 'cn',
    args: ['-p', PROMPT],
    setUp: 'continue',
    env: { ...openaiKey, CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_ALLOW_ANONYMOUS_TELEMETRY: '0' },
  }),
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
