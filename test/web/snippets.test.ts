import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listen, urlOf } from '../../fixtures/listen.ts';
import { type CodingToolId, codingTools } from '../../lambda/domain/coding-tools.ts';
import { type providerLabels, providers } from '../../lambda/domain/providers.ts';
import { languages, snippet, toolTexts } from '../../web/src/providers/snippets.ts';

const KEY = 'svc_0123456789';
const run = promisify(execFile);

/** A response body that each of these SDKs accepts. */
const BODY = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  type: 'message',
  role: 'assistant',
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
  content: [{ type: 'text', text: 'Hello.' }],
  candidates: [],
});

let server: Server;
const folder = tmpdir();
const seen: { path: string | undefined; key: unknown }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push({ path: request.url, key: request.headers['x-service-key'] });
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(BODY));
  });
  await listen(server);
  await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  server.close();
});

const textOf = (provider: (typeof providerLabels)[number], language: (typeof languages)[number]) =>
  snippet(provider, language, {
    url: `${urlOf(server)}/gateway/${provider}`,
    serviceKey: KEY,
    anyCredential: true,
  });

describe('the snippets', () => {
  it.each(['openai', 'anthropic', 'google', 'xai', 'deepseek', 'openrouter'] as const)(
    'of %s send a request of the SDK to the gateway, with the service key',
    async (provider) => {
      const file = join(folder, `${provider}.mjs`);
      await writeFile(
        file,
        textOf(provider, 'node')
          .map(({ text }) => text)
          .join('\n'),
      );
      seen.length = 0;
      await run(process.execPath, [file]);
      expect(seen).toEqual([{ path: expect.stringMatching(new RegExp(`^/gateway/${provider}/`)), key: KEY }]);
    },
  );

  it('exist for every provider and language, and mark the new lines: URL and service key', () => {
    for (const { label } of providers) {
      for (const language of languages) {
        const added = textOf(label, language)
          .filter(({ isNew }) => isNew)
          .map(({ text }) => text)
          .join('\n');
        expect(added).toContain(`/gateway/${label}`);
        expect(added).toContain(KEY);
      }
    }
    expect(providers.length).toBeGreaterThanOrEqual(12);
  });

  it('read the provider key from the environment where one is needed', () => {
    const lines = snippet('openai', 'python', {
      url: 'https://openai.ai.acme.dev',
      serviceKey: KEY,
      anyCredential: false,
    });
    const text = lines.map((line) => line.text).join('\n');
    expect(text).toContain('os.environ["OPENAI_API_KEY"]');
    expect(text).toContain('base_url="https://openai.ai.acme.dev/v1"');
  });

  it('of every coding tool have the gateway and the service key', () => {
    const urlOf = (provider: string) => `https://${provider}.ai.acme.dev`;
    for (const [id, { provider }] of Object.entries(codingTools)) {
      const text = JSON.stringify(toolTexts(id as CodingToolId, { urlOf, serviceKey: KEY }));
      expect(text).toContain(urlOf(provider));
      expect(text).toContain(KEY);
    }
    expect(toolTexts('cline', { urlOf, serviceKey: KEY })).toEqual([
      { title: 'Shell', text: expect.stringContaining('cline auth') },
    ]);
    expect(toolTexts('cursor', { urlOf, serviceKey: KEY })).toEqual([
      { title: 'Models: Override OpenAI Base URL', text: `https://openai.ai.acme.dev/${KEY}/v1` },
    ]);
  });
});
