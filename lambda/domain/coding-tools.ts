import type { ProviderLabel } from './providers.ts';

/** Where a tool finds the gateway. */
export interface ToolAccess {
  /** The gateway's URL of a provider, without a trailing slash. */
  readonly urlOf: (provider: ProviderLabel) => string;
  readonly serviceKey: string;
}

export type JsonObject = { readonly [name: string]: string | readonly JsonObject[] | JsonObject };

/** The part that a file of a tool must have. Everything else in it stays. */
export type FileContent =
  | { readonly format: 'json'; readonly members: JsonObject }
  | { readonly format: 'env'; readonly variables: Readonly<Record<string, string>> }
  | {
      readonly format: 'toml';
      /** Lines by name: before the first table, and of the table. */
      readonly top: Readonly<Record<string, string>>;
      readonly table: string;
      readonly lines: Readonly<Record<string, string>>;
    }
  | { readonly format: 'yaml'; readonly text: string };

interface SetUpFile {
  /** Below the home folder. */
  readonly path: string;
  readonly content: FileContent;
}

export interface SetUp {
  readonly files?: readonly SetUpFile[];
  /** Variables of the environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Lines for a shell. */
  readonly commands?: readonly string[];
  /** A text to type into the tool's own page of settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface CodingTool {
  readonly name: string;
  /** The provider whose API it calls in this set-up. */
  readonly provider: ProviderLabel;
  readonly setUp: (access: ToolAccess) => SetUp;
}

const HEADER = 'X-Service-Key';
const openAiUrl = ({ urlOf }: ToolAccess) => `${urlOf('openai')}/v1`;
/** For tools without a setting for headers: the service key is the first segment of the path. */
const keyedOpenAiUrl = ({ urlOf, serviceKey }: ToolAccess) => `${urlOf('openai')}/${serviceKey}/v1`;

const jsonFile = (path: string, members: JsonObject): SetUpFile => ({ path, content: { format: 'json', members } });
const envFile = (path: string, variables: Readonly<Record<string, string>>): SetUpFile => ({
  path,
  content: { format: 'env', variables },
});

/** The form that opencode and its fork share. */
const openAiProviderFile = (path: string, access: ToolAccess): SetUpFile =>
  jsonFile(path, {
    provider: { openai: { options: { baseURL: openAiUrl(access), headers: { [HEADER]: access.serviceKey } } } },
  });

/**
 * How coding tools are pointed at the gateway: docs/clients.md and the dashboard show it, `npm run attach` writes it, and `npm run clients`
 * runs the tools with it. The provider's own credential is where the tool has it already.
 */
export const codingTools = {
  claude: {
    name: 'Claude Code',
    provider: 'anthropic',
    setUp: ({ urlOf, serviceKey }) => ({
      files: [
        jsonFile('.claude/settings.json', {
          env: { ANTHROPIC_BASE_URL: urlOf('anthropic'), ANTHROPIC_CUSTOM_HEADERS: `${HEADER}: ${serviceKey}` },
        }),
      ],
    }),
  },
  codex: {
    name: 'Codex',
    provider: 'openai',
    setUp: (access) => ({
      files: [
        {
          path: '.codex/config.toml',
          content: {
            format: 'toml',
            top: { model_provider: '"gateway"' },
            table: 'model_providers.gateway',
            lines: {
              name: '"OpenAI"',
              base_url: `"${openAiUrl(access)}"`,
              env_key: '"OPENAI_API_KEY"',
              wire_api: '"responses"',
              http_headers: `{ "${HEADER}" = "${access.serviceKey}" }`,
            },
          },
        },
      ],
    }),
  },
  gemini: {
    name: 'Gemini CLI',
    provider: 'google',
    setUp: ({ urlOf, serviceKey }) => ({
      files: [
        envFile('.gemini/.env', { GOOGLE_GEMINI_BASE_URL: `${urlOf('google')}/${serviceKey}` }),
        jsonFile('.gemini/settings.json', { security: { auth: { selectedType: 'gemini-api-key' } } }),
      ],
    }),
  },
  opencode: {
    name: 'opencode',
    provider: 'openai',
    setUp: (access) => ({ files: [openAiProviderFile('.config/opencode/opencode.json', access)] }),
  },
  copilot: {
    name: 'Copilot CLI',
    provider: 'openai',
    setUp: (access) => ({
      environment: {
        COPILOT_PROVIDER_BASE_URL: openAiUrl(access),
        COPILOT_PROVIDER_HEADERS: `${HEADER}: ${access.serviceKey}`,
        COPILOT_MODEL: 'gpt-4o',
      },
      commands: ['export COPILOT_PROVIDER_API_KEY="$OPENAI_API_KEY"'],
    }),
  },
  qwen: {
    name: 'Qwen Code',
    provider: 'openai',
    setUp: (access) => ({
      files: [
        envFile('.qwen/.env', { OPENAI_BASE_URL: keyedOpenAiUrl(access) }),
        jsonFile('.qwen/settings.json', { security: { auth: { selectedType: 'openai' } } }),
      ],
    }),
  },
  cline: {
    name: 'Cline CLI',
    provider: 'openai',
    setUp: (access) => ({
      commands: [`cline auth -p openai -k "$OPENAI_API_KEY" -m gpt-4o -b ${keyedOpenAiUrl(access)}`],
    }),
  },
  continue: {
    name: 'Continue',
    provider: 'openai',
    setUp: (access) => ({
      files: [
        {
          path: '.continue/config.yaml',
          content: {
            format: 'yaml',
            text: `name: gateway
version: 1.0.0
schema: v1
models:
  - name: gpt-4o
    provider: openai
    model: gpt-4o
    apiKey: \${{ secrets.OPENAI_API_KEY }}
    apiBase: ${openAiUrl(access)}
    requestOptions:
      headers:
        ${HEADER}: ${access.serviceKey}`,
          },
        },
      ],
    }),
  },
  // Its own servers make the calls: they must reach the gateway.
  cursor: {
    name: 'Cursor',
    provider: 'openai',
    setUp: (access) => ({ settings: { 'Models: Override OpenAI Base URL': keyedOpenAiUrl(access) } }),
  },
  pi: {
    name: 'pi',
    provider: 'openai',
    setUp: (access) => ({
      files: [
        jsonFile('.pi/agent/models.json', {
          providers: {
            gateway: {
              baseUrl: openAiUrl(access),
              api: 'openai-completions',
              apiKey: 'OPENAI_API_KEY',
              headers: { [HEADER]: access.serviceKey },
              models: [{ id: 'gpt-4o' }],
            },
          },
        }),
      ],
    }),
  },
  droid: {
    name: 'droid',
    provider: 'openai',
    setUp: (access) => ({
      files: [
        jsonFile('.factory/settings.json', {
          customModels: [
            {
              id: 'custom:gateway',
              model: 'gpt-4o',
              displayName: 'gpt-4o (gateway)',
              provider: 'generic-chat-completion-api',
              baseUrl: openAiUrl(access),
              // biome-ignore lint/suspicious/noTemplateCurlyInString: droid replaces it from the environment.
              apiKey: '${OPENAI_API_KEY}',
              extraHeaders: { [HEADER]: access.serviceKey },
            },
          ],
        }),
      ],
    }),
  },
  kilo: {
    name: 'Kilo CLI',
    provider: 'openai',
    setUp: (access) => ({ files: [openAiProviderFile('.config/kilo/kilo.json', access)] }),
  },
} as const satisfies Readonly<Record<string, CodingTool>>;

export type CodingToolId = keyof typeof codingTools;

const linesOf = (values: Readonly<Record<string, string>>, separator: string): string[] =>
  Object.entries(values).map(([name, value]) => `${name}${separator}${value}`);

/** The lines that a shell runs for a set-up. */
export const shellLines = ({ environment = {}, commands = [] }: SetUp): string[] => [
  ...Object.entries(environment).map(([name, value]) => `export ${name}="${value}"`),
  ...commands,
];

/** The content as a file of its own. */
export const contentText = (content: FileContent): string => {
  switch (content.format) {
    case 'json':
      return JSON.stringify(content.members, null, 2);
    case 'env':
      return linesOf(content.variables, '=').join('\n');
    case 'toml':
      return [...linesOf(content.top, ' = '), '', `[${content.table}]`, ...linesOf(content.lines, ' = ')].join('\n');
    case 'yaml':
      return content.text;
  }
};
