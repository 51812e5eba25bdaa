import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isWellFormedAccountKey } from '../lambda/domain/accounts/issued-secret.ts';
import {
  type CodingTool,
  type CodingToolId,
  codingTools,
  contentText,
  type SetUp,
  shellLines,
  type ToolAccess,
} from '../lambda/domain/coding-tools.ts';
import type { ProviderLabel } from '../lambda/domain/providers.ts';
import { type MergedFile, mergeFile } from './attach/tool-file.ts';
import { CommandError, flag, gatewayUrl, runCommand } from './command.ts';
import { askJson, askUntil } from './smoke/checks.ts';

const PROMPT = 'Say hello.';
const RECORD_WAIT_MS = 30_000;

/** The smallest call of a provider that costs something: a few hundredths of a cent at most. */
const calls: Partial<
  Record<
    ProviderLabel,
    { readonly variable: string; readonly path: string; readonly header: string; readonly body: object }
  >
> = {
  anthropic: {
    variable: 'ANTHROPIC_API_KEY',
    path: '/v1/messages',
    header: 'x-api-key',
    body: { model: 'claude-haiku-4-5', max_tokens: 16, messages: [{ role: 'user', content: PROMPT }] },
  },
  openai: {
    variable: 'OPENAI_API_KEY',
    path: '/v1/chat/completions',
    header: 'authorization',
    body: { model: 'gpt-4o-mini', max_tokens: 16, messages: [{ role: 'user', content: PROMPT }] },
  },
  google: {
    variable: 'GEMINI_API_KEY',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    header: 'x-goog-api-key',
    body: { contents: [{ parts: [{ text: PROMPT }] }], generationConfig: { maxOutputTokens: 16 } },
  },
};

const gatewayError = z.object({ error: z.object({ message: z.string(), type: z.literal('gateway_error') }) });
const record = z.object({
  client: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  costUsd: z.string().nullable(),
  provenance: z.string(),
});

/** Where records are read, and with what. */
interface Dashboard {
  /** Such as `https://spend.acme.dev`. */
  readonly url: string;
  readonly token: string;
}

const recordText = async (requestId: string, { url, token }: Dashboard): Promise<string> => {
  const address = `${url.replace(/\/$/, '')}/api/machine/requests/${requestId}`;
  const { status, json } = await askUntil(address, token, RECORD_WAIT_MS, (response) => {
    const found = record.safeParse(response.json).data;
    return response.status === 200 ? found !== undefined && found.provenance !== 'unknown' : response.status !== 404;
  });
  const { data } = record.safeParse(json);
  if (status !== 200 || data === undefined) return `The record cannot be read: GET /requests/{id} responded ${status}.`;
  if (data.provenance === 'unknown') return 'On record, at an unknown cost.';
  return `On record: ${data.model ?? 'no model'}, ${data.inputTokens ?? '?'} tokens in, ${data.outputTokens ?? '?'} out, ${data.costUsd === null ? 'cost unknown' : `$${data.costUsd} (${data.provenance})`}.`;
};

/**
 * Makes one call through the gateway as a tool would, with the provider's credential from the environment. Without one the provider refuses
 * the call, which is free, and shows that the gateway passes it on.
 *
 * @returns lines for people, and whether the gateway took the call
 */
const tryCall = async (
  provider: ProviderLabel,
  { urlOf, serviceKey }: ToolAccess,
  dashboard: Dashboard | undefined,
): Promise<{ readonly isGood: boolean; readonly lines: readonly string[] }> => {
  const call = calls[provider];
  if (!call) throw new Error(`There is no call for ${provider}.`);
  const credential = process.env[call.variable];
  const { status, headers, json } = await askJson(urlOf(provider) + call.path, {
    method: 'POST',
    headers: {
      'X-Service-Key': serviceKey,
      [call.header]: `${call.header === 'authorization' ? 'Bearer ' : ''}${credential ?? 'none'}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(call.body),
  });
  const refusal = gatewayError.safeParse(json);
  if (refusal.success) return { isGood: false, lines: [`The gateway refuses the call: ${refusal.data.error.message}`] };
  const requestId = headers.get('x-service-request-id');
  if (requestId === null)
    return { isGood: false, lines: [`${urlOf(provider)} is no gateway: its response (${status}) names no request.`] };
  return {
    isGood: true,
    lines: [
      `The provider responded ${status} through the gateway${credential === undefined ? `, without a credential: set ${call.variable} for a whole call` : ''}. Request ${requestId}.`,
      dashboard
        ? await recordText(requestId, dashboard)
        : 'Set AI_SPEND_URL and AI_SPEND_TOKEN (an API token) to see its record here.',
    ],
  };
};

const ids = Object.keys(codingTools) as [CodingToolId, ...CodingToolId[]];

const USAGE = `npm run attach -- TOOL --gateway URL [--write | --check]

Prints how a coding tool is pointed at the gateway, makes one call, and shows what is on record. The service key is in the
environment, SERVICE_KEY; so are AI_SPEND_URL and AI_SPEND_TOKEN, the dashboard and an API token, to read the record.

  TOOL            ${ids.join(', ')}
  --gateway URL   with {label} for the provider: https://{label}.gateway.acme.dev, http://localhost:8787/gateway/{label}
  --write         puts the set-up into the tool's files, and keeps what else is in them
  --check         says what the tool's files lack; exits 1 where something is wrong
  --home DIR      the folder of the tool's files (default: your home)
  --no-call       makes no call
  --dry-run       writes nothing, and makes no call`;

const schema = z
  .object({
    _: z.tuple([z.enum(ids, { error: `TOOL is one of ${ids.join(', ')}.` })]),
    gateway: gatewayUrl,
    home: z.string().default(homedir()),
    write: flag,
    check: flag,
    'no-call': flag,
    'dry-run': flag,
  })
  .refine(({ write, check }) => !(write && check), '--write and --check exclude each other.');

const serviceKeyFrom = ({ SERVICE_KEY: key }: NodeJS.ProcessEnv): string => {
  if (!key) throw new CommandError('Set SERVICE_KEY to a service key, svc_….');
  if (!isWellFormedAccountKey(key)) throw new CommandError('SERVICE_KEY is no service key: was it copied whole?');
  return key;
};

const readOrEmpty = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new CommandError(`${path} cannot be read: ${error.code}`);
  });

/** Only its owner may read what has a service key in it. */
const OWN_FILE = 0o600;

await runCommand({ usage: USAGE, schema }, async ({ _: [id], gateway: urlOf, home, write, check, ...options }) => {
  const access: ToolAccess = { serviceKey: serviceKeyFrom(process.env), urlOf };
  const tool: CodingTool = codingTools[id];
  const setUp: SetUp = tool.setUp(access);
  let problems = 0;
  for (const { path, content } of setUp.files ?? []) {
    const whole = join(home, path);
    let merged: MergedFile;
    try {
      merged = mergeFile(await readOrEmpty(whole), content);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems += 1;
      console.log(`~/${path}: ${error.message}.\n\n${contentText(content)}\n`);
      continue;
    }
    const { text, changed } = merged;
    if (changed.length === 0) console.log(`~/${path} has the set-up.`);
    else if (check) {
      problems += 1;
      console.log(`~/${path} lacks, or has another: ${changed.join(', ')}.`);
    } else if (write && !options['dry-run']) {
      await mkdir(dirname(whole), { recursive: true });
      // Whole or not at all: a full disk must not empty the file. Where it is a link, what it leads to is replaced.
      const target = await realpath(whole).catch(() => whole);
      await writeFile(`${target}.new`, text, { mode: OWN_FILE });
      await rename(`${target}.new`, target);
      console.log(`~/${path}: set ${changed.join(', ')}.`);
    } else console.log(`~/${path}\n\n${contentText(content)}\n`);
  }
  const shell = shellLines(setUp);
  if (shell.length > 0 && !check) console.log(`Run:\n\n${shell.join('\n')}\n`);
  for (const [name, value] of Object.entries(setUp.settings ?? {}))
    console.log(`In its settings, ${name}:\n\n${value}\n`);
  const lacking = Object.entries(setUp.environment ?? {}).filter(([name, value]) => process.env[name] !== value);
  if (check && lacking.length > 0) {
    problems += 1;
    console.log(`The environment lacks, or has another: ${lacking.map(([name]) => name).join(', ')}.`);
  } else if (check && !setUp.files && !setUp.environment)
    console.log(
      'It keeps its set-up where this command does not read it: run the set-up again where calls miss the gateway.',
    );
  if (!options['no-call'] && !options['dry-run']) {
    const { AI_SPEND_URL: url, AI_SPEND_TOKEN: token } = process.env;
    const { isGood, lines } = await tryCall(tool.provider, access, url && token ? { url, token } : undefined);
    console.log(lines.join('\n'));
    if (!isGood) problems += 1;
  }
  if (problems > 0) process.exitCode = 1;
});
