import { beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { raceTable } from '../../../fixtures/intercept-table.ts';
import { auditEntry } from '../../../lambda/data/accounts/audit-log.ts';
import { openLimitValues, overrideAction } from '../../../lambda/data/ledger/limit-values.ts';
import { openReservations } from '../../../lambda/data/ledger/reservations.ts';
import { limitValueKey } from '../../../lambda/data/table/keys.ts';
import { findItem } from '../../../lambda/data/table/read.ts';
import type { Table, TableCommand } from '../../../lambda/data/table/table.ts';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { type Block, type Blocks, NO_BLOCKS, type ReservedBudget } from '../../../lambda/domain/limits/block.ts';
import { periodId } from '../../../lambda/domain/limits/reservation.ts';
import { valueExpiry } from '../../../lambda/domain/limits/value-counts.ts';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { valueReader } from '../../../lambda/gateway/admission/value-lookup.ts';
import {
  type AwsCall,
  AwsCallError,
  awsCaller,
  awsService,
  environmentCredentials,
} from '../../../lambda/gateway/aws/aws-json.ts';
import { DeadConnectionError } from '../../../lambda/gateway/aws/transport.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import type { GatewayParts } from '../../../lambda/gateway/gateway.ts';
import { openReserve } from '../../../lambda/gateway/relay/reserve.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../../data/new-account.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { ACTIVE, CREDENTIALS, fakeExchange, jsonRequest, turn } from '../gateway-fakes.ts';

const USD = 1e9;
const table = tableForTests();
let accountId: string;

beforeAll(async () => {
  accountId = (await newAccount(table)).accountId;
});

const caller: AwsCall = (...call) => {
  const keys = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  const variables = { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint, ...keys };
  return awsCaller(awsService('dynamodb', variables), environmentCredentials(variables), nodeTransport)(...call);
};
const reserveOf = (tableName = table.name) => openReserve(caller, tableName, 2_000);

const budgetOf = (usd: number, changes: Partial<ReservedBudget> = {}): ReservedBudget => ({
  id: uuidv7(),
  name: 'Agents',
  scope: {},
  period: 'monthly',
  amountNanoUsd: usd * USD,
  limitNanoUsd: usd * USD,
  unknownCost: 'pass',
  onUnavailable: 'pass',
  ...changes,
});

const partsOf = (blocks: Partial<Blocks>, reserve: ReturnType<typeof reserveOf>): Partial<GatewayParts> => ({
  lookUpAccount: () => ({ ...ACTIVE, accountId, withoutBlocks: 'pass' }),
  lookUpBlocks: () => ({ ...NO_BLOCKS, ...blocks }),
  loadReserve: async () => reserve,
});

/** A request through a gateway whose account has these budgets. Its worst case: 1,000 tokens of output at 10 USD a million, and its bytes. */
const send = async (
  budgets: readonly ReservedBudget[],
  body: object | Buffer | null,
  {
    reserve = reserveOf(),
    provider = 'openai',
    method = 'POST',
    target = '/v1/chat/completions',
    contentType = 'application/json',
    blocks = [] as readonly Block[],
  } = {},
) => {
  const bytes = body === null || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const content = bytes ? ['Content-Type', contentType, 'Content-Length', String(bytes.length)] : [];
  const headers = [...CREDENTIALS, ...content];
  const exchange = fakeExchange(
    { method, host: `${provider}.gateway.test`, target, headers, ...(bytes && { body: bytes }) },
    { parts: partsOf({ blocks, reserved: budgets }, reserve) },
  );
  while (exchange.sent.length === 0 && exchange.closes().length === 0) await turn();
  return exchange;
};

const CHAT = { model: 'gpt-4o', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }] };
const WORST = JSON.stringify(CHAT).length * 2_500 + 1_000 * 10_000;

type Exchange = Awaited<ReturnType<typeof send>>;

const respondWith = async ({ provider, finished, closes }: Exchange, body: object): Promise<CloseEvent> => {
  provider().onHeaders({ status: 200, statusMessage: 'OK', headers: ['Content-Type', 'application/json'] });
  provider().onData(Buffer.from(JSON.stringify(body)));
  provider().onEnd([]);
  await finished;
  return closes()[0] as CloseEvent;
};

const respond = (exchange: Exchange, outputTokens: number): Promise<CloseEvent> => {
  const usage = { prompt_tokens: 10, completion_tokens: outputTokens, total_tokens: 10 + outputTokens };
  return respondWith(exchange, { model: 'gpt-4o', choices: [], usage });
};

const itemOf = ({ id }: ReservedBudget) =>
  openReservations(table).read(accountId, { budgetId: id, periodId: periodId(periodAt('monthly', new Date())) });
const reservedIn = async (budget: ReservedBudget): Promise<number> =>
  [...(await itemOf(budget)).reserved.values()].reduce((sum, nanoUsd) => sum + nanoUsd, 0);

/** As the evaluator does some minutes later, where the ledger shows this as used. */
const freeOld = async ({ id }: ReservedBudget, usedNanoUsd = 0, afterMinutes = 15, of: Table = table) => {
  const store = openReservations(of, () => Date.now() + afterMinutes * MINUTE_MS);
  const names = [{ budgetId: id, periodId: periodId(periodAt('monthly', new Date())) }];
  await (await store.compare(accountId, names))(new Map([[id, usedNanoUsd]]));
};

const record = (events: readonly CloseEvent[]) => openRecorder(table, { logger: { error: () => {} } })(events);

describe('a request of a budget that is reserved from', () => {
  it('reserves its worst case before it is forwarded, and its cost replaces that', async () => {
    const budget = budgetOf(1);
    const exchange = await send([budget], CHAT);
    expect(await reservedIn(budget)).toBe(WORST);
    const close = await respond(exchange, 20);
    expect(close.reservations).toEqual([expect.objectContaining({ budgetId: budget.id, nanoUsd: WORST })]);
    await record([close]);
    expect(await reservedIn(budget)).toBe(0);
    expect((await itemOf(budget)).finishedNanoUsd).toBe(10 * 2_500 + 20 * 10_000);
  });

  it('lets the item of a value live until no late event or corrected price changes it', async () => {
    const budget = budgetOf(1, { of: { each: 'dim:user', value: 'ada', askUrl: '' } });
    await send([budget], CHAT);
    const id = periodId(periodAt('monthly', new Date()));
    const item = await findItem(table, limitValueKey(accountId, budget.id, id, 'ada'));
    // A dead process leaves it as it is: nothing of the ledger sets it.
    expect(item).toMatchObject({ committed: WORST, expiresAt: valueExpiry(id) });
    // Days that somebody chose may be 366.
    expect(valueExpiry('fixed#2026-01-01T00:00:00.000Z')).toBe(Date.parse('2027-02-11T00:00:00Z') / 1_000);
    const reservedAfter = async (minutes: number) => {
      const values = openLimitValues(table, () => Date.now() + minutes * MINUTE_MS);
      return (await values.read(accountId, budget.id, id, 'ada')).reservedNanoUsd;
    };
    expect([await reservedAfter(0), await reservedAfter(15)]).toEqual([WORST, 0]);
    const after = { amountNanoUsd: 3, until: null };
    const override = { amountNanoUsd: 5, until: '2126-11-20T12:00:00.000Z', after };
    const audit = auditEntry(accountId, {}, { action: 'budget.override_set' }, new Date());
    await openLimitValues(table).setOverride(overrideAction(accountId, budget.id, 'ada', override, null), audit);
    const read = valueReader(caller, table.name, 2_000);
    expect(await read(JSON.stringify([accountId, budget.id, id, 'ada']))).toEqual({
      ...{ usedNanoUsd: 0, unpricedRequests: 0, committedNanoUsd: WORST, override },
    });
  });

  it('is counted once, however often its event arrives', async () => {
    const budget = budgetOf(1);
    const close = await respond(await send([budget], CHAT), 20);
    await record([close, close]);
    await record([close]);
    const { finishedNanoUsd, reserved } = await itemOf(budget);
    expect([finishedNanoUsd, ...reserved.values()]).toEqual([225_000, 0]);
  });

  it('is refused where it does not fit, with what is spent, reserved and needed', async () => {
    const budget = budgetOf(WORST / USD);
    const isRefused = async (spent: number, reserved: number): Promise<Exchange> => {
      const refused = await send([budget], CHAT);
      expect(refused.sent).toEqual([]);
      expect(refused.status()).toBe(429);
      expect(JSON.parse(String(refused.calls.find(([name]) => name === 'write')?.[1])).error).toMatchObject({
        code: 'BUDGET_EXCEEDED',
        budget: { id: budget.id, spentUsd: spent / USD, reservedUsd: reserved / USD, neededUsd: WORST / USD },
      });
      return refused;
    };
    const headerOf = (exchange: Exchange, name: string) => exchange.headers()[exchange.headers().indexOf(name) + 1];
    const first = await send([budget], CHAT);
    const refused = await isRefused(0, WORST);
    expect(headerOf(refused, 'x-should-retry')).toBe('false');
    // It would fit, to the nano-dollar, if the other ended at no cost.
    expect(headerOf(refused, 'Retry-After')).toBe('30');
    expect(refused.closes()).toEqual([expect.objectContaining({ outcome: 'refused', blockedBy: budget.id })]);
    await record([await respond(first, 20)]);
    expect(headerOf(await isRefused(225_000, 0), 'Retry-After')).not.toBe('30');
  });

  it('reserves the model’s largest output without max_tokens', async () => {
    const budget = budgetOf(1);
    const { max_tokens: _, ...unlimited } = CHAT;
    await send([budget], unlimited);
    expect(await reservedIn(budget)).toBe(JSON.stringify(unlimited).length * 2_500 + 16_384 * 10_000);
  });

  it('reserves from all of its budgets, or from none', async () => {
    const [wide, narrow] = [budgetOf(1), budgetOf((0.5 * WORST) / USD)];
    const middle = budgetOf(1, { limitNanoUsd: 2 * WORST });
    expect((await send([wide, middle], CHAT)).sent).toHaveLength(1);
    // It takes the rest, to the nano-dollar.
    expect((await send([wide, middle], CHAT)).sent).toHaveLength(1);
    expect((await send([wide, middle], CHAT)).status()).toBe(429);
    expect((await send([wide, narrow], CHAT)).status()).toBe(429);
    expect(await Promise.all([wide, middle, narrow].map(reservedIn))).toEqual([2 * WORST, 2 * WORST, 0]);
  });

  it.each([
    ['passes', 'pass', 1, 0],
    ['is refused', 'stop', 0, 0],
    ['counts as an amount', 0.25 * USD, 1, 0.25 * USD],
  ] as const)('of unknown price %s where the budget says so', async (_does, unknownCost, sent, reserved) => {
    const budget = budgetOf(1, { unknownCost });
    const exchange = await send([budget], { ...CHAT, model: 'my-own-model' });
    expect(exchange.sent).toHaveLength(sent);
    expect(await reservedIn(budget)).toBe(reserved);
  });

  it('passes alone, where two at once need the last of the same budgets', async () => {
    const budgets = [1.5, 1.5].map((requests) => budgetOf((requests * WORST) / USD));
    let begun = 0;
    const together = Promise.withResolvers<void>();
    const reserve = openReserve(
      async (...call) => {
        begun += 1;
        if (begun === 2) together.resolve();
        await together.promise;
        return caller(...call);
      },
      table.name,
      10_000,
    );
    const exchanges = await Promise.all(
      [budgets, budgets.toReversed()].map((inOrder) => send(inOrder, CHAT, { reserve })),
    );
    expect(exchanges.flatMap(({ sent }) => sent)).toHaveLength(1);
  });

  it.each(['TransactionConflictException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'])(
    'waits, and frees what it reserved, while the table answers %s',
    async (code) => {
      const [wide, narrow] = [budgetOf(1), budgetOf((1.5 * WORST) / USD)];
      let refusals = 0;
      const busy: AwsCall = async (...call) => {
        // Every second write.
        if (refusals++ % 2 === 0) throw new AwsCallError({ __type: code }, 400);
        return caller(...call);
      };
      const reserve = openReserve(busy, table.name, 10_000);
      expect((await send([narrow, wide], CHAT, { reserve })).sent).toHaveLength(1);
      expect((await send([narrow, wide], CHAT, { reserve })).status()).toBe(429);
      expect(await Promise.all([wide, narrow].map(reservedIn))).toEqual([WORST, WORST]);
    },
  );

  it('does not repeat a write whose response is lost, which may have reserved, and frees those before', async () => {
    const [first, budget] = [budgetOf(1), budgetOf(1)];
    const freed = Promise.withResolvers<void>();
    let calls = 0;
    const lossy: AwsCall = async (...call) => {
      calls += 1;
      const isLost = calls === 2;
      const response = await caller(...call);
      if (isLost) throw new Error('no response');
      if (calls === 3) freed.resolve();
      return response;
    };
    const reserve = openReserve(lossy, table.name, 10_000);
    await respond(await send([first, budget], CHAT, { reserve }), 20);
    await freed.promise;
    expect(await Promise.all([first, budget].map(reservedIn))).toEqual([0, WORST]);
  });

  it('frees a reservation once, where the evaluator freed it before', async () => {
    const budget = budgetOf((1.5 * WORST) / USD);
    const { reservations = [] } = await respond(await send([budget], CHAT), 20);
    // The gateway does not know whether the ledger shows it as used by now.
    const anHourLater = openReserve(caller, table.name, 10_000, () => Date.now() + 60 * MINUTE_MS);
    expect((await send([budget], CHAT, { reserve: anHourLater })).status()).toBe(429);
    const frees = ({ input }: TableCommand) =>
      'UpdateExpression' in input && /REMOVE/.test(`${input.UpdateExpression}`);
    // Two evaluators do it at one moment.
    await freeOld(
      budget,
      0,
      15,
      raceTable(table, () => freeOld(budget), frees),
    );
    await reserveOf().release(accountId, reservations);
    expect(await reservedIn(budget)).toBe(0);
    expect((await send([budget], CHAT)).sent).toHaveLength(1);
    expect((await send([budget], CHAT)).status()).toBe(429);
  });

  it('frees a reservation once, where the connection breaks after the table has freed it', async () => {
    const budgets = [budgetOf((3 * WORST) / USD), budgetOf((3 * WORST) / USD)];
    const { reservations = [] } = await respond(await send(budgets, CHAT), 20);
    await respond(await send(budgets, CHAT), 20);
    const variables = { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint };
    const post = nodeTransport(table.endpoint);
    const breaking = awsCaller(
      awsService('dynamodb', variables),
      () => ({ accessKeyId: 'local', secretAccessKey: 'local' }),
      () =>
        async (...call) => {
          await post(...call);
          throw new DeadConnectionError('closed');
        },
    );
    await openReserve(breaking, table.name, 2_000).release(accountId, reservations);
    expect(await Promise.all(budgets.map(reservedIn))).toEqual([WORST, WORST]);
  });

  it.each([
    ['passes, and its record says so', 'pass', 1],
    ['is refused', 'stop', 0],
  ] as const)('%s while the table does not reserve', async (_does, onUnavailable, sent) => {
    const reserve = reserveOf('no-such-table');
    const exchange = await send([budgetOf(1, { onUnavailable })], CHAT, { reserve });
    expect(exchange.sent).toHaveLength(sent);
    if (sent === 0) expect(exchange.status()).toBe(503);
    else expect(await respond(exchange, 1)).toMatchObject({ blocksUnread: true });
  });

  it('does not reserve from a budget of another model', async () => {
    const budget = budgetOf(1, { scope: { model: 'gpt-5' } });
    expect((await send([budget], CHAT)).sent).toHaveLength(1);
    expect((await itemOf(budget)).exists).toBe(false);
  });

  it('is counted without its reservation where that was freed before', async () => {
    const budget = budgetOf(1);
    const close = await respond(await send([budget], CHAT), 20);
    await freeOld(budget);
    expect((await itemOf(budget)).reserved.size).toBe(0);
    expect(await record([close])).toEqual([expect.objectContaining({ kind: 'recorded' })]);
    await freeOld(budget, 225_000);
    expect(await itemOf(budget)).toMatchObject({ finishedNanoUsd: 0, unreservedNanoUsd: 225_000 });
    // Less is believed only of a ledger that nothing was written to for a moment.
    await freeOld(budget, 100_000, 14);
    expect(await itemOf(budget)).toMatchObject({ unreservedNanoUsd: 225_000 });
    await freeOld(budget, 100_000, 16);
    expect(await itemOf(budget)).toMatchObject({ unreservedNanoUsd: 100_000 });
  });

  it('shows what was spent before the budget reserved anything', async () => {
    const budget = budgetOf(1);
    await freeOld(budget, 5);
    await freeOld(budget, 8);
    expect(await itemOf(budget)).toMatchObject({ initialNanoUsd: 5, unreservedNanoUsd: 8 });
  });

  it('frees its reservation where its client disconnects before it is forwarded', async () => {
    const budget = budgetOf(1);
    const reserve = reserveOf();
    const begun = Promise.withResolvers<void>();
    const late = Object.assign(
      async (...request: Parameters<typeof reserve>) => {
        const result = await reserve(...request);
        exchange.disconnect();
        return result;
      },
      {
        ...reserve,
        release: (...freed: Parameters<typeof reserve.release>) => reserve.release(...freed).finally(begun.resolve),
      },
    );
    const exchange = fakeExchange(jsonRequest(CHAT), { parts: partsOf({ reserved: [budget] }, late) });
    await begun.promise;
    expect(exchange.sent).toEqual([]);
    expect(await reservedIn(budget)).toBe(0);
  });
});

/** A multipart body of these fields and one file of this many bytes. */
const multipart = (fields: Readonly<Record<string, string>>, fileBytes: number, quote = '"') => {
  const head = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name=${quote}${name}${quote}\r\n\r\n${value}\r\n`,
  );
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
  return Buffer.concat([Buffer.from(head.join('') + file), Buffer.alloc(fileBytes, 1), Buffer.from('\r\n--b--\r\n')]);
};
const MULTIPART = 'multipart/form-data; boundary=b';
const LONG = { ...CHAT, model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'x'.repeat(200_000) }] };
const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
const SPOKEN = { ...CHAT, model: 'gpt-4o-audio-preview', messages: [{ role: 'user', content: [audio] }] };

describe('the most that a request may cost', () => {
  const reservedFor = async (body: object | Buffer, options: Parameters<typeof send>[2]): Promise<number> => {
    // A request whose price is not known is refused.
    const budget = budgetOf(100, { unknownCost: 'stop' });
    expect((await send([budget], body, options)).sent).toHaveLength(1);
    return reservedIn(budget);
  };
  const sizeOf = (body: object): number => JSON.stringify(body).length;

  it('is that of the dearest model that may serve it', async () => {
    const body = { ...CHAT, model: 'openai/gpt-4o-mini', models: ['openai/gpt-4o-mini', 'openai/gpt-4o'] };
    const options = { provider: 'openrouter', target: '/api/v1/chat/completions' };
    expect(await reservedFor(body, options)).toBe(sizeOf(body) * 2_500 + 1_000 * 10_000);
    const ofModel = budgetOf(1, { scope: { model: 'openai/gpt-4o' } });
    await send([ofModel], body, options);
    expect(await reservedIn(ofModel)).toBe(sizeOf(body) * 2_500 + 1_000 * 10_000);
  });

  it('is that of the known models, where another is not known', async () => {
    const body = { ...CHAT, model: 'openai/gpt-4o', models: ['my/own-model'] };
    const options = { provider: 'openrouter', target: '/api/v1/chat/completions' };
    const budget = budgetOf(1);
    await send([budget], body, options);
    expect(await reservedIn(budget)).toBe(sizeOf(body) * 2_500 + 1_000 * 10_000);
    expect((await send([budgetOf(1, { unknownCost: 'stop' })], body, options)).status()).toBe(429);
  });

  const images = { target: '/v1/images/generations' };
  const speech = { target: '/v1/audio/speech' };
  const dalle = { model: 'dall-e-3', prompt: 'A' };
  const imagen = { provider: 'google', target: '/v1beta/models/imagen-4.0-generate-001:predict' };
  const cached = { ...CHAT, model: 'gpt-6-sol', prompt_cache_options: { ttl: '12h' } };
  const grok = { model: 'grok-imagine-image', prompt: 'A', n: 3 };
  const image2 = { model: 'gpt-image-2', prompt: 'A', n: 2, size: '1024x1536' };
  const anthropic = { provider: 'anthropic', target: '/v1/messages' };
  const video = { model: 'sora-2', prompt: 'A', seconds: '8' };
  it.each<[string, object, Parameters<typeof send>[2], (bytes: number) => number]>([
    ['what a cache holds for twelve hours', cached, {}, (bytes) => bytes * 5_000 + 1_000 * 10_000],
    [
      'the larger number of responses',
      { ...CHAT, n: 3, best_of: 2 },
      {},
      (bytes) => bytes * 2_500 + 3 * 1_000 * 10_000,
    ],
    [
      'the larger limit of output',
      { ...CHAT, max_completion_tokens: 9 },
      {},
      (bytes) => bytes * 2_500 + 1_000 * 10_000,
    ],
    ['the dearest tier', { ...CHAT, service_tier: 'ultrafast' }, {}, (bytes) => 6 * (bytes * 2_500 + 1_000 * 10_000)],
    ['the bytes of a body for speech that has no text', { model: 'tts-1' }, speech, (bytes) => bytes * 15_000],
    ['the characters of speech', { model: 'tts-1', input: 'Hello' }, speech, () => 5 * 15_000],
    [
      'images by quality and size',
      { ...dalle, n: 2, quality: 'standard', size: '1024x1024' },
      images,
      () => 2 * 1.05 * 0.04 * USD,
    ],
    ['images of the dearest quality and size', dalle, images, () => 1.05 * 0.12 * USD],
    ['images of a model that has one price', grok, { ...images, provider: 'xai' }, () => 3 * 1.05 * 0.02 * USD],
    ['images of Imagen, which makes four', { instances: [{ prompt: 'A' }] }, imagen, () => 4 * 1.05 * 0.04 * USD],
    ['tokens of images that have no list of prices', image2, images, () => 2 * 1.05 * 12_288 * 30_000 + 61 * 8_000],
    [
      'previews of images',
      { ...image2, partial_images: 3 },
      images,
      (bytes) => 2 * (1.05 * 12_288 + 300) * 30_000 + bytes * 8_000,
    ],
    [
      'instructions of the provider for tools',
      { ...CHAT, tools: [{ type: 'function', function: { name: 'f' } }] },
      {},
      (bytes) => (bytes + 1_000) * 2_500 + 1_000 * 10_000,
    ],
    [
      'the fee of a request',
      { ...CHAT, model: 'sonar' },
      { provider: 'perplexity', target: '/chat/completions' },
      (bytes) => bytes * 1_000 + 1_000 * 1_000 + 0.012 * USD,
    ],
    ['a long prompt, at its own rates', LONG, anthropic, (bytes) => bytes * 7_500 + 1_000 * 22_500],
    ['audio, as what fits the context', SPOKEN, {}, () => 128_000 * 40_000 + 1_000 * 80_000],
    ['seconds of video', video, { target: '/v1/videos' }, () => 8 * 0.1 * USD],
  ])('counts %s', async (_what, body, options, nanoUsd) => {
    expect(await reservedFor(body, options)).toBe(Math.round(nanoUsd(sizeOf(body))));
  });

  it('counts the bytes of what is embedded, whatever it is', async () => {
    const body = { model: 'text-embedding-3-small', input: Array.from({ length: 3_000 }, (_, n) => [n, n, n, n]) };
    expect(await reservedFor(body, { target: '/v1/embeddings' })).toBe(sizeOf(body) * 20);
  });

  it('counts the seconds that a file of speech may have', async () => {
    const target = '/v1/audio/transcriptions';
    const body = multipart({ model: 'whisper-1' }, 75_000);
    const [least, most] = [100 * 100_000, 101 * 100_000];
    const reserved = await reservedFor(body, { target, contentType: MULTIPART });
    expect(reserved).toBeGreaterThanOrEqual(least);
    expect(reserved).toBeLessThan(most);
    const byToken = multipart({ model: 'gpt-4o-transcribe' }, 75_000);
    expect(await reservedFor(byToken, { target, contentType: MULTIPART })).toBeGreaterThan(100 * 10 * 6_000);
    // Its name means a cheaper model where it chats.
    const mistral = multipart({ model: 'voxtral-mini-latest' }, 75_000);
    const options = { provider: 'mistral', target, contentType: MULTIPART } as const;
    expect(await reservedFor(mistral, options)).toBeGreaterThanOrEqual(100 * 50_000);
  });

  it.each(['"', ''])('counts images and files of an edit whose fields have names in %j', async (quote) => {
    const fields = { model: 'gpt-image-1', n: '2', quality: 'low', size: '1024x1024' };
    const body = multipart(fields, 300_000, quote);
    const reserved = await reservedFor(body, { target: '/v1/images/edits', contentType: MULTIPART });
    expect(reserved).toBeGreaterThan(2 * 0.011 * USD + 4_096 * 10_000);
    expect(reserved).toBeLessThan(0.2 * USD);
  });

  it('lets no images pass that the budget does not have', async () => {
    const budget = budgetOf(0.6);
    const body = { model: 'gpt-image-1', prompt: 'A cat' };
    const sent = await Promise.all(Array.from({ length: 20 }, () => send([budget], body, images)));
    const passed = sent.filter((exchange) => exchange.sent.length === 1);
    expect(passed).toHaveLength(2);
    const input_tokens_details = { text_tokens: 10, image_tokens: 0 };
    const usage = { input_tokens: 10, output_tokens: 6_240, input_tokens_details };
    const closes = await Promise.all(passed.map((exchange) => respondWith(exchange, { data: [{}], usage })));
    await record(closes);
    const { finishedNanoUsd, excessNanoUsd } = await itemOf(budget);
    expect(finishedNanoUsd).toBe(2 * (10 * 5_000 + 6_240 * 40_000));
    expect(excessNanoUsd).toBe(0);
  });
});

describe('a request that starts nothing', () => {
  it.each([
    ['POST', '/v1/moderations', { input: 'Hello' }],
    ['GET', '/v1/responses/resp_1', null],
    ['POST', '/v1/responses/resp_1/cancel', {}],
    ['POST', '/v1beta/interactions/i/cancel', {}],
    ['GET', '/v1/models', null],
  ])('reserves nothing and is not refused: %s %s', async (method, target, body) => {
    const budget = budgetOf(1, { unknownCost: 'stop' });
    const until = new Date(Date.now() + MINUTE_MS).toISOString();
    const { id, name, scope } = budget;
    const usedUp: Block = { id, kind: 'budget', name, scope, until, amountNanoUsd: USD, spentNanoUsd: USD };
    expect((await send([budget], body, { method, target, blocks: [usedUp] })).sent).toHaveLength(1);
    expect((await itemOf(budget)).exists).toBe(false);
  });
});

describe('a batch, whose cost is known when its results are fetched', () => {
  it.each([
    ['stop', 0],
    ['pass', 1],
  ] as const)('is of unknown cost: %s', async (unknownCost, sent) => {
    const exchange = await send([budgetOf(1, { unknownCost })], { input_file_id: 'f' }, { target: '/v1/batches' });
    expect(exchange.sent).toHaveLength(sent);
  });
});

describe('a response whose result is fetched later', () => {
  const BACKGROUND = { model: 'gpt-4o', background: true, max_output_tokens: 1_000, input: 'Hello' };
  const MOST = JSON.stringify(BACKGROUND).length * 2_500 + 1_000 * 10_000;
  const COST = 10 * 2_500 + 20 * 10_000;
  const ofResponse = (id: string, status: string, usage: object | null) => ({
    id,
    status,
    background: true,
    model: 'gpt-4o',
    output: [],
    usage,
  });
  const begin = async (budget: ReservedBudget, id: string) => {
    const exchange = await send([budget], BACKGROUND, { target: '/v1/responses' });
    return exchange.sent.length === 0 ? null : respondWith(exchange, ofResponse(id, 'queued', null));
  };
  const get = async (id: string, status = 'completed') => {
    const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
    const exchange = await send([], null, { method: 'GET', target: `/v1/responses/${id}` });
    return respondWith(exchange, ofResponse(id, status, status === 'completed' ? usage : null));
  };

  it('keeps its reservation until the result is counted', async () => {
    const [budget, id] = [budgetOf(1), uuidv7()];
    await record([(await begin(budget, id)) as CloseEvent]);
    await freeOld(budget);
    expect(await reservedIn(budget)).toBe(MOST);
    await record([await get(id, 'in_progress')]);
    expect(await reservedIn(budget)).toBe(MOST);
    const results = [await get(id), await get(id)];
    for (const result of results) await record([result]);
    expect(await reservedIn(budget)).toBe(0);
    expect(await itemOf(budget)).toMatchObject({ finishedNanoUsd: COST, excessNanoUsd: 0, uncertainNanoUsd: 0 });
  });

  it('is settled where its event comes with that of the result', async () => {
    const [budget, id] = [budgetOf(1), uuidv7()];
    const [begun, result] = [(await begin(budget, id)) as CloseEvent, await get(id)];
    expect(await record([result, begun])).toMatchObject([{ kind: 'recorded' }, { kind: 'recorded' }]);
    expect(await reservedIn(budget)).toBe(0);
    expect(await itemOf(budget)).toMatchObject({ finishedNanoUsd: COST, uncertainNanoUsd: 0 });
  });

  it('is settled where its event comes after that of the result', async () => {
    const [budget, id] = [budgetOf(1), uuidv7()];
    const begun = (await begin(budget, id)) as CloseEvent;
    await record([await get(id)]);
    expect(await record([begun])).toMatchObject([{ kind: 'recorded' }]);
    expect(await reservedIn(budget)).toBe(0);
    expect(await itemOf(budget)).toMatchObject({ finishedNanoUsd: 0, uncertainNanoUsd: 0 });
  });

  it('is freed after a day, and counts as uncertain', async () => {
    const [budget, id] = [budgetOf(1), uuidv7()];
    await record([(await begin(budget, id)) as CloseEvent]);
    await freeOld(budget, 0, 22 * 60);
    expect(await reservedIn(budget)).toBe(MOST);
    await freeOld(budget, 0, 24 * 60);
    expect(await reservedIn(budget)).toBe(0);
    expect((await itemOf(budget)).uncertainNanoUsd).toBe(MOST);
    expect(await record([await get(id)])).toMatchObject([{ kind: 'recorded' }]);
  });

  it('lets no more pass than the budget has, while no result is fetched', async () => {
    const budget = budgetOf(0.05);
    let passed = 0;
    for (let n = 0; n < 20; n++) {
      const begun = await begin(budget, uuidv7());
      if (begun) await record([begun]);
      passed += Number(begun !== null);
    }
    expect(passed).toBe(Math.floor((0.05 * USD) / MOST));
  });

  it('may be deferred by xAI', async () => {
    const [budget, id] = [budgetOf(1), uuidv7()];
    const body = { model: 'grok-4', deferred: true, max_tokens: 100, messages: [] };
    const begun = await respondWith(await send([budget], body, { provider: 'xai' }), { request_id: id });
    await record([begun]);
    expect(await reservedIn(budget)).toBeGreaterThan(0);
    const fetching = { provider: 'xai', method: 'GET', target: `/v1/chat/deferred-completion/${id}` };
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
    const fetched = await send([], null, fetching);
    await record([await respondWith(fetched, { id: 'c', model: 'grok-4', choices: [{}], usage })]);
    expect(await reservedIn(budget)).toBe(0);
    expect((await itemOf(budget)).finishedNanoUsd).toBeGreaterThan(0);
  });
});

describe('a request whose cost nobody knows', () => {
  it('counts as uncertain where its client gave up', async () => {
    const budget = budgetOf(1);
    const { disconnect, finished, closes } = await send([budget], CHAT);
    disconnect();
    await finished;
    await record([closes()[0] as CloseEvent]);
    expect(await reservedIn(budget)).toBe(0);
    expect((await itemOf(budget)).uncertainNanoUsd).toBe(WORST);
  });

  it('counts as uncertain where its process died', async () => {
    const budget = budgetOf(1);
    await send([budget], CHAT);
    await freeOld(budget);
    expect(await reservedIn(budget)).toBe(0);
    expect((await itemOf(budget)).uncertainNanoUsd).toBe(WORST);
  });
});
