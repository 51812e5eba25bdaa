import { join } from 'node:path';
import { AGENTS_PROMPT, type Client, PROMPT, type Target } from './client.ts';

/** Coding agents and other programs of the command line. Each set-up is the one in docs/clients.md. */

const bin = (packagesDir: string, name: string): string => join(packagesDir, 'node_modules/.bin', name);

const claudeCodeBase = {
  attaches: 'header',
  folder: 'claude-code',
  packages: { '@anthropic-ai/claude-code': '2.1.197' },
} as const;
const claudeCode =
  (prompt: string) =>
  ({ base, serviceKey, packagesDir }: Target) => ({
    command: bin(packagesDir, 'claude'),
    args: ['-p', prompt],
    env: {
      ANTHROPIC_BASE_URL: base('anthropic'),
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_CUSTOM_HEADERS: `X-Service-Key: ${serviceKey}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    },
  });

const opencodeBase = { attaches: 'header', folder: 'opencode', packages: { 'opencode-ai': '1.18.33' } } as const;
const opencode =
  (prompt: string) =>
  ({ base, serviceKey, packagesDir }: Target) => ({
    command: bin(packagesDir, 'opencode'),
    args: ['run', '--model', 'openai/gpt-4o', prompt],
    env: { OPENAI_API_KEY: 'sk-test' },
    files: {
      'opencode.json': JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        provider: {
          openai: { options: { baseURL: `${base('openai')}/v1`, headers: { 'X-Service-Key': serviceKey } } },
        },
      }),
    },
  });

export const commandLineClients: readonly Client[] = [
  { ...claudeCodeBase, name: 'Claude Code', run: claudeCode(PROMPT) },
  { ...claudeCodeBase, name: 'Claude Code, two agents', run: claudeCode(AGENTS_PROMPT) },
  {
    name: 'Codex',
    attaches: 'header',
    folder: 'codex',
    packages: { '@openai/codex': '0.169.0' },
    run: ({ base, serviceKey, packagesDir }) => ({
      command: bin(packagesDir, 'codex'),
      args: ['exec', '--skip-git-repo-check', PROMPT],
      env: { OPENAI_API_KEY: 'sk-test' },
      files: {
        '.codex/config.toml': `model = "gpt-4o"
model_provider = "gateway"

[model_providers.gateway]
name = "OpenAI"
base_url = "${base('openai')}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
http_headers = { "X-Service-Key" = "${serviceKey}" }

[analytics]
enabled = false
`,
      },
    }),
  },
  {
    name: 'Gemini CLI',
    attaches: 'path',
    folder: 'gemini',
    packages: { '@google/gemini-cli': '0.61.0' },
    run: ({ keyedBase, packagesDir }) => ({
      command: bin(packagesDir, 'gemini'),
      args: ['--skip-trust', '-p', PROMPT],
      env: { GOOGLE_GEMINI_BASE_URL: keyedBase('google'), GEMINI_API_KEY: 'AIza-test' },
      files: {
        '.gemini/settings.json': JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
        }),
      },
    }),
  },
  { ...opencodeBase, name: 'opencode', run: opencode(PROMPT) },
  { ...opencodeBase, name: 'opencode, two agents', run: opencode(AGENTS_PROMPT) },
  {
    name: 'Qwen Code',
    attaches: 'path',
    folder: 'qwen-code',
    packages: { '@qwen-code/qwen-code': '0.15.10' },
    run: ({ keyedBase, packagesDir }) => ({
      command: bin(packagesDir, 'qwen'),
      args: ['-p', PROMPT],
      env: { OPENAI_BASE_URL: `${keyedBase('openai')}/v1`, OPENAI_API_KEY: 'sk-test', OPENAI_MODEL: 'gpt-4o' },
      files: {
        '.qwen/settings.json': JSON.stringify({
          security: { auth: { selectedType: 'openai' } },
          privacy: { usageStatisticsEnabled: false },
        }),
      },
    }),
  },
  {
    name: 'pi',
    attaches: 'header',
    folder: 'pi',
    packages: { '@mariozechner/pi-coding-agent': '0.73.1' },
    run: ({ base, serviceKey, packagesDir }) => ({
      command: bin(packagesDir, 'pi'),
      args: ['--provider', 'gateway', '--model', 'gpt-4o', '-p', PROMPT],
      files: {
        '.pi/agent/models.json': JSON.stringify({
          providers: {
            gateway: {
              baseUrl: `${base('openai')}/v1`,
              api: 'openai-completions',
              apiKey: 'sk-test',
              headers: { 'X-Service-Key': serviceKey },
              models: [{ id: 'gpt-4o', name: 'GPT-4o', input: ['text'], contextWindow: 128000, maxTokens: 4096 }],
            },
          },
        }),
      },
    }),
  },
  {
    name: 'Cline CLI',
    attaches: 'path',
    folder: 'cline',
    packages: { cline: '3.0.65' },
    run: ({ keyedBase, packagesDir }) => ({
      command: 'sh',
      args: [
        '-c',
        `"$0" auth -p openai -k sk-test -m gpt-4o -b ${keyedBase('openai')}/v1 && "$0" -P openai '${PROMPT}'`,
        bin(packagesDir, 'cline'),
      ],
    }),
  },
  {
    name: 'Continue CLI',
    attaches: 'header',
    folder: 'continue',
    packages: { '@continuedev/cli': '1.5.47' },
    run: ({ base, serviceKey, packagesDir }) => ({
      command: bin(packagesDir, 'cn'),
      args: ['--config', 'config.yaml', '-p', PROMPT],
      env: { CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_ALLOW_ANONYMOUS_TELEMETRY: '0' },
      files: {
        'config.yaml': `name: gateway
version: 1.0.0
schema: v1
models:
  - name: gpt-4o
    provider: openai
    model: gpt-4o
    apiBase: ${base('openai')}/v1
    apiKey: sk-test
    requestOptions:
      headers:
        X-Service-Key: ${serviceKey}
`,
      },
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
