import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { flag, readOptions, wholeNumber } from '../ops/command.ts';
import { indexText } from './host/index-page.ts';
import { startStack } from './host/stack.ts';
import { startMockProviders } from './mock/providers.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { SEED_USER, seedData } from './seed/seed.ts';
import { currentAssembly, currentPages } from './synth.ts';

/** Keeps the two values of a session in the shell, without jq. */
const SESSION = `sed 's/.*"accountId":"\\([^"]*\\)".*"token":"\\([^"]*\\)".*/KEY=\\1 TOKEN=\\2/'`;
const JSON_BODY = "-H 'content-type: application/json'";

/** Three lines for a shell: register, make a tracked call, read what it cost. The address is new each time: no one is registered twice. */
const firstCall = (url: string, options: { readonly mock: boolean }): string[] => {
  const user = {
    email: `ada.${randomInt(1000, 10_000)}@example.com`,
    password: 'Correct-Horse-7-Battery',
    firstName: 'Ada',
    lastName: 'Lovelace',
  };
  const call = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };
  const credential = options.mock ? 'any' : '$OPENAI_API_KEY';
  return [
    `export $(curl -s ${url}/api/auth/register ${JSON_BODY} -d '${JSON.stringify(user)}' | ${SESSION})`,
    `curl -s ${url}/gateway/openai/v1/chat/completions -H "X-Service-Key: $KEY" -H "Authorization: Bearer ${credential}" ${JSON_BODY} -d '${JSON.stringify(call)}'`,
    `curl -s "${url}/api/spend?groupBy=model" -H "Authorization: Bearer $TOKEN"`,
  ];
};

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_PORT = 8787;
const USAGE = `npm start [-- --mock] [--port N] [--data DIR] [--seed-data] [--set NAME=VALUE …]

Runs the whole stack on this machine until Ctrl-C; its data stays.

  --mock            mock providers: no call leaves this machine, and any credential will do
  --port N          of dashboard, API and gateway (default: ${DEFAULT_PORT}; 0 takes a free one)
  --data DIR        where the data is kept (default: .data)
  --seed-data       an account with two months of plausible spend, to look at
  --set NAME=VALUE  an environment variable of the functions, instead of the templates' value; may be given more than once`;

const schema = z.object({
  mock: flag,
  port: wholeNumber.min(0).max(65_535).default(DEFAULT_PORT),
  data: z.string().default('.data'),
  'seed-data': flag,
  set: z.array(z.string().regex(/^[A-Z0-9_]+=/, '--set takes NAME=VALUE')).default([]),
});
const { mock, port, data, 'seed-data': seed, set } = readOptions({ usage: USAGE, schema });

/** `npm start`: the whole stack on this machine, until a signal stops it. */
await runUntilSignal(async (interruption) => {
  const startedAt = Date.now();
  const [assembly, webFolder] = await Promise.all([
    currentAssembly(
      ROOT,
      () => console.log('Synthesizing the templates, because their sources changed …'),
      interruption,
    ),
    currentPages(ROOT, () => console.log('Building the web dashboard, because its sources changed …'), interruption),
  ]);
  const providers = mock ? await startMockProviders() : undefined;
  const stack = await startStack({
    assembly,
    dataDir: resolve(data),
    port,
    webFolder,
    mockProviders: mock,
    environment: {
      // No call leaves this machine.
      ...providers?.environment,
      ...providers?.withFeed,
      ...Object.fromEntries(set.map((text) => text.split(/=(.*)/s, 2))),
    },
  });

  if (seed) {
    console.log('Filling the stack with two months of spend …');
    const seeded = await seedData(stack.url, stack.table, interruption);
    console.log(seeded ? `${seeded.requests} requests and ${seeded.alerts} alerts are there.` : 'It is there already.');
  }

  console.log(
    `\nThe AI Spend Gateway runs on this machine (ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s).\n`,
  );
  console.log(indexText(stack));
  if (seed) console.log(`Sign in    ${SEED_USER.email} with ${SEED_USER.password}`);
  if (mock) console.log('Providers  mocks: no call leaves this machine, and any credential will do');
  console.log('\nThe first tracked call, in another terminal (its spend shows after about 3 s):\n');
  for (const line of firstCall(stack.url, { mock })) console.log(`${line}\n`);
  console.log('Ctrl-C stops everything; the data stays.');

  return async () => {
    console.log('\nStopping …');
    await stack.stop();
    await providers?.stop();
  };
});
