import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { currentWebBuild } from '../web/current-build.ts';
import { indexText } from './host/index-page.ts';
import { startStack } from './host/stack.ts';
import { startMockProviders } from './mock/providers.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { SEED_USER, seedData } from './seed/seed.ts';
import { SetupError } from './setup-error.ts';
import { currentAssembly } from './synth.ts';

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

const setting = (text: string): [string, string] => {
  const [, name, value] = /^([A-Z0-9_]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Error(`--set takes NAME=VALUE, not ${text}.`);
  return [name, value];
};

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        data: { type: 'string', default: '.data' },
        port: { type: 'string', default: String(DEFAULT_PORT) },
        mock: { type: 'boolean', default: false },
        'seed-data': { type: 'boolean', default: false },
        set: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    for (const name of ['mock', 'seed-data'])
      if (process.env[`npm_config_${name.replace('-', '_')}`] !== undefined)
        throw new Error(`npm took --${name} for its own: npm start -- --${name}`);
    if (values.data === '') throw new Error('--data takes a folder.');
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`There is no port ${values.port}.`);
    return {
      dataDir: resolve(values.data),
      port,
      mock: values.mock,
      seed: values['seed-data'],
      environment: Object.fromEntries(values.set.map(setting)),
    };
  } catch (error) {
    throw new SetupError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
};

/** `npm start`: the whole stack on this machine, until a signal stops it. */
await runUntilSignal(async () => {
  const { dataDir, port, mock, seed, environment } = options();
  const startedAt = Date.now();
  // In another process, while the pages are built in this one.
  const assembling = currentAssembly(ROOT, () =>
    console.log('Synthesizing the templates, because their sources changed …'),
  );
  const webFolder = currentWebBuild(() => console.log('Building the web dashboard, because its sources changed …'));
  const assembly = await assembling;
  const providers = mock ? await startMockProviders() : undefined;
  const stack = await startStack({
    assembly,
    dataDir,
    port,
    webFolder,
    mockProviders: mock,
    environment: {
      // No call leaves this machine.
      ...providers?.environment,
      ...providers?.withFeed,
      ...environment,
    },
  });

  if (seed) {
    console.log('Filling the stack with two months of spend …');
    const seeded = await seedData(stack.url, stack.table);
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
