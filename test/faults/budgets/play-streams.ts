import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emulatorVariables } from '../../../fixtures/emulator-client.ts';
import { FINGERPRINT_SECRET, gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { ruleOf } from '../../../fixtures/rule-of.ts';
import { openBounds } from '../../../lambda/dashboard/read-bounds.ts';
import { openBlockCopies } from '../../../lambda/data/accounts/key-copies.ts';
import { openRules, type Rule } from '../../../lambda/data/alerts/rules.ts';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import type { Limit } from '../../../lambda/domain/limits/limit.ts';
import { type BudgetCondition, evaluatorOf } from '../../../lambda/domain/limits/rule.ts';
import { knownCostNanoUsd } from '../../../lambda/domain/spend/counters.ts';
import { openJudge } from '../../../lambda/rule-evaluator/open-judge.ts';
import { startSecrets } from '../../../local/emulators/secrets.ts';
import { newAccount } from '../../data/new-account.ts';
import { SEED } from '../../seed.ts';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { type Part, startPart } from '../harness/part.ts';
import { openQueues } from '../harness/queues.ts';
import { startRecorder } from '../harness/working-recorder.ts';
import { type Random, randomFrom } from '../random.ts';
import { conflictingTable } from './conflicting-table.ts';

const STREAMS = 1_000;
const GATEWAYS = 4;
const INPUT_TOKENS = 12;
const MAX_OUTPUT_TOKENS = 1_000;
const JUDGING_MS = 2_000;

/** They start within three seconds, and take five: all of them run at once. */
const START_MS = 3;
const CHUNK_MS = 1_000;

/** A provider of streams that take five seconds, and report up to 1,000 tokens of output. */
const startStreams = async (random: Random) => {
  const server = createServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 0; n < 5; n++) {
      response.write(`data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`);
      await sleep(CHUNK_MS);
    }
    const completion_tokens = 1 + random.below(MAX_OUTPUT_TOKENS);
    const usage = { prompt_tokens: INPUT_TOKENS, completion_tokens, total_tokens: INPUT_TOKENS + completion_tokens };
    response.end(`data: ${JSON.stringify({ model: 'gpt-4o', choices: [], usage })}\n\ndata: [DONE]\n\n`);
  });
  await listen(server);
  return {
    origin: urlOf(server),
    close: () => stopServer(server),
  };
};

const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });

/** The status of one stream, read to its end; null without a response. */
const stream = (port: number, serviceKey: string, body: string): Promise<number | null> =>
  new Promise((resolve) => {
    const headers = {
      Host: 'openai.gateway.test',
      'X-Service-Key': serviceKey,
      Authorization: 'Bearer sk-budgets',
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const path = '/v1/chat/completions';
    const outgoing = httpRequest({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? null));
    });
    outgoing.on('error', () => resolve(null));
    outgoing.end(body);
  });

const silent = { error: () => {}, warn: () => {}, info: () => {} };

/** A thousand streams at once over four gateway processes, then again a thousand, until all are refused. */
export const playStreams = async ({
  enforcement,
  maxTokens,
  amountsUsd = [1],
}: {
  readonly enforcement: 'lagging' | 'reserved';
  readonly maxTokens: number | null;
  /** Of the account's budgets. */
  readonly amountsUsd?: readonly number[];
}): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'budgets-'));
  const table = await conflictingTable(randomFrom(SEED));
  const provider = await startStreams(randomFrom(SEED));
  const secrets = await startSecrets({ dataDir });
  secrets.ensure({ id: FINGERPRINT_SECRET, value: 'fingerprint-key-of-budgets' });
  const queue = await startPart('queue', { DATA_DIR: dataDir });
  const queues = await openQueues(`http://127.0.0.1:${queue.port}`, { maxReceiveCount: 1_000, visibilitySeconds: 30 });
  const recorder = startRecorder(table, queues);
  const gateways: Part[] = [];
  let judging = true;
  let judged: Promise<unknown> = Promise.resolve();
  try {
    const { accountId, accountKey } = await newAccount(table);
    const createdAt = new Date().toISOString();
    const budgets = amountsUsd.map((amount) => {
      const config = { amount, period: 'monthly', block: { enforcement, onUnavailable: 'stop' } };
      return ruleOf(accountId, { name: `$${amount}`, channels: [], createdAt, type: 'budget', config });
    }) as Rule<BudgetCondition>[];
    for (const budget of budgets) await openRules(table).create(budget);
    await openBlockCopies(table).write(accountId, 'stop');
    const judge = openJudge(table, {
      now: () => new Date(),
      logger: silent,
      send: async () => {},
    } as unknown as Parameters<typeof openJudge>[1]);
    /** As the recorder requests it: after each change, every two seconds at most. */
    const judgeOnce = (oldest = new Date()) =>
      judge({ accountId, since: new Date().toISOString(), oldest: oldest.toISOString() }, () => 60_000);
    await judgeOnce();
    let wavesFrom = new Date();
    judged = (async () => {
      while (judging) {
        await judgeOnce(wavesFrom);
        await sleep(JUDGING_MS);
      }
    })();
    // It fails the scenario at its end.
    judged.catch(() => {});
    const variables = {
      ...emulatorVariables,
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${queue.port}`,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
      TABLE_NAME: table.name,
      USAGE_QUEUE_URL: queues.queueUrl,
      ...gatewayVariables(provider.origin, 900),
    };
    for (let n = 0; n < GATEWAYS; n++) gateways.push(await startPart('gateway', variables));
    const body = JSON.stringify({
      model: 'gpt-4o',
      stream: true,
      ...(maxTokens !== null && { max_tokens: maxTokens }),
      messages: [{ role: 'user', content: 'Hello.' }],
    });
    // Each process knows the key and its blocks: while the table is busy, it uses what it knows.
    for (const { port } of gateways) {
      const isKnown = async () => (await stream(port, accountKey, body)) !== 503;
      await eventually(isKnown, 'the gateway knows the account', DELIVERY_MS, 500);
    }
    const spent = async () => {
      const now = new Date();
      const { start, end } = periodAt('monthly', now);
      let requests = 0;
      let nanoUsd = 0;
      for await (const { counters } of openSpend(table).read({
        accountId,
        range: { granularity: 'hour', from: start, to: end },
        groupBy: [],
      })) {
        requests += counters.requests ?? 0;
        nanoUsd += knownCostNanoUsd(counters);
      }
      return { requests, nanoUsd };
    };
    const counted = new Map<number | null, number>();
    const count = (status: number) => counted.get(status) ?? 0;
    let waves = 0;
    for (let last = -1; last !== 0 && waves < 20; waves++) {
      wavesFrom = new Date();
      const ports = Array.from({ length: STREAMS }, (_, n) => (gateways[n % GATEWAYS] as Part).port);
      const statuses = await Promise.all(
        ports.map(async (port, n) => {
          await sleep(n * START_MS);
          return stream(port, accountKey, body);
        }),
      );
      last = statuses.filter((status) => status === 200).length;
      for (const status of statuses) counted.set(status, count(status as number) + 1);
      assert.equal(count(200) + count(429) + count(503), (waves + 1) * STREAMS, 'other responses');
      // All that was forwarded is in the ledger, and what it had reserved is free.
      const isRecorded = async () => (await spent()).requests >= (waves + 1) * STREAMS;
      await eventually(isRecorded, 'every request is in the ledger', DELIVERY_MS, 200);
    }
    judging = false;
    await judged;
    await judgeOnce(wavesFrom);
    const period = periodAt('monthly', new Date());
    const { nanoUsd } = await spent();
    const usd = (value: number) => `$${(value / 1e9).toFixed(4)}`;
    const bounds = await openBounds(table)(
      accountId,
      budgets.map((rule) => ({ rule, limit: evaluatorOf(rule.condition).limit as Limit, period })),
    );
    const overspends = budgets.map(({ ruleId, name, condition }) => {
      const bound = bounds.get(ruleId)?.bound.nanoUsd ?? null;
      const overspend = Math.max(0, nanoUsd - condition.config.amount * 1e9);
      assert.ok(bound !== null && overspend <= bound, `overspent ${overspend} nano-USD with a bound of ${bound}`);
      if (enforcement === 'reserved') assert.equal(bound, 0, `${name}: bound ${usd(bound)}`);
      return `${usd(overspend)} more than ${name}, bound ${usd(bound)}`;
    });
    const { transactions, writes } = table.conflicts;
    return `${waves} × ${STREAMS} streams over ${GATEWAYS} processes: ${count(200)} passed, ${count(429)} refused, ${count(503)} while the table was too slow; ${usd(nanoUsd)} spent, ${overspends.join('; ')}; ${writes} writes and ${transactions} transactions conflicted; seed ${SEED}`;
  } finally {
    judging = false;
    await judged.catch(() => {});
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await recorder.stop();
    queues.sqs.destroy();
    await queue.stop();
    await Promise.all([provider.close(), secrets.stop(), table.stop()]);
    await rm(dataDir, { recursive: true, force: true });
  }
};
