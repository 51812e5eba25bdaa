/**
 * What the gateway's function adds to a bare streaming handler, with its events and without, and without its meter too: all bundles under Lambda's own runtime, in interleaved rounds of one run;
 * CPU time of the function's process, with ratios and 95 % confidence intervals. Several starts of each, since a first request is one a
 * process.
 */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../fixtures/exchange.ts';
import { type LambdaGateway, startLambdaGateway } from '../fixtures/lambda-gateway/lambda-gateway.ts';
import { type Script, startScriptedOrigin } from '../fixtures/scripted-origin.ts';
import { newAccountKey } from '../lambda/domain/accounts/issued-secret.ts';
import { bundled } from './relay/bundle.ts';
import { cpuSeconds } from './relay/process.ts';
import { intervalText, median, pairedRatio, report, rounded, withInterval } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const { starts, rounds } = benchOptions('lambda', { starts: 6, rounds: 5 });

const SERVICE_KEY = newAccountKey(randomBytes);
const CHATS = 10;
const CHUNKS = 500;
const BARE_HANDLER = join(import.meta.dirname, 'lambda/bare-handler.cjs');

const json = (value: object): string => JSON.stringify(value);
const question = (stream: boolean): string =>
  json({ model: 'gpt-4o', stream, messages: [{ role: 'user', content: 'x'.repeat(1_900) }] });

const chat: Script = (_request, response) => {
  const usage = { prompt_tokens: 500, completion_tokens: 450, total_tokens: 950 };
  const choices = [{ message: { role: 'assistant', content: 'x'.repeat(1_800) } }];
  const body = json({ id: 'c', object: 'chat.completion', model: 'gpt-4o', choices, usage });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
};

const event = (n: number): string =>
  `data: ${json({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', choices: [{ index: 0, delta: { content: `word ${n}` } }] })}\n\n`;

const stream: Script = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(event(sent));
    if (++sent < CHUNKS) return;
    clearInterval(timer);
    response.end('data: [DONE]\n\n');
  }, 1);
};

const origin = await startScriptedOrigin();

/** CPU time in ms that a function takes for so many requests, each. */
const cpuMs = async (lambda: LambdaGateway, script: Script, count: number): Promise<number> => {
  origin.script = script;
  const body = question(script === stream);
  const headers = {
    Host: 'openai.gateway.test',
    'X-Service-Key': SERVICE_KEY,
    Authorization: 'Bearer sk',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
  };
  const before = cpuSeconds(lambda.pid);
  for (let n = 0; n < count; n++) {
    const { status, whole } = await ask({
      port: lambda.port,
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
      body,
    });
    if (status !== 200 || !whole) throw new Error(`status ${status}: ${lambda.log()}`);
    await lambda.idle();
  }
  return ((cpuSeconds(lambda.pid) - before) * 1_000) / count;
};

const kinds = ['start', 'first request', 'chat, 2 KB', `stream, ${CHUNKS} chunks`] as const;
type Taken = Record<(typeof kinds)[number], number[]>;
const nothing = (): Taken => ({ start: [], 'first request': [], 'chat, 2 KB': [], 'stream, 500 chunks': [] });
const taken = { bare: nothing(), gateway: nothing(), withoutEvents: nothing(), withoutBoth: nothing() };

const start = (file?: string): Promise<LambdaGateway> =>
  startLambdaGateway(origin.origin, { active: SERVICE_KEY }, {}, file);

const folder = await mkdtemp(join(tmpdir(), 'lambda-'));
const entry = join(import.meta.dirname, '../lambda/gateway/hosts/handler.ts');
const handlerWithout = (...without: ('events' | 'meter')[]): Promise<string> => {
  const outfile = join(folder, `without-${without.join('-')}.cjs`);
  return bundled(entry, folder, { without, format: 'cjs', banner: {}, outfile }).then(() => outfile);
};
const [withoutEvents, withoutBoth] = [await handlerWithout('events'), await handlerWithout('events', 'meter')];

for (let n = 0; n < starts; n++) {
  const field = [
    { ...taken.bare, lambda: await start(BARE_HANDLER) },
    { ...taken.gateway, lambda: await start() },
    { ...taken.withoutEvents, lambda: await start(withoutEvents) },
    { ...taken.withoutBoth, lambda: await start(withoutBoth) },
  ];
  for (const one of field) one.start.push(cpuSeconds(one.lambda.pid) * 1_000);
  for (const one of field) one['first request'].push(await cpuMs(one.lambda, chat, 1));
  for (const { lambda } of field) {
    await cpuMs(lambda, chat, 3 * CHATS);
    await cpuMs(lambda, stream, 2);
  }
  for (let round = 0; round < rounds; round++) {
    for (const one of field) one['chat, 2 KB'].push(await cpuMs(one.lambda, chat, CHATS));
    for (const one of field) one['stream, 500 chunks'].push(await cpuMs(one.lambda, stream, 1));
  }
  for (const { lambda } of field) await lambda.stop();
}
await origin.close();
await rm(folder, { recursive: true });

report(
  'lambda',
  { starts, rounds },
  kinds.map((kind) => {
    const [bare, gateway] = [taken.bare[kind], taken.gateway[kind]];
    const more = withInterval(gateway.length, (drawn) =>
      median(drawn.map((round) => (gateway[round] as number) - (bare[round] as number))),
    );
    return {
      kind,
      'bare handler, CPU ms': rounded(median(bare), 2),
      'gateway, CPU ms': rounded(median(gateway), 2),
      'more, ms': intervalText(more, 1),
      'gateway / bare': intervalText(pairedRatio(gateway, bare)),
      'without events / bare': intervalText(pairedRatio(taken.withoutEvents[kind], bare)),
      'without events and meter / bare': intervalText(pairedRatio(taken.withoutBoth[kind], bare)),
    };
  }),
);
