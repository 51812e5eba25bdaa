import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Context, ScheduledEvent } from 'aws-lambda';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { cancelled, interceptTable } from '../../fixtures/intercept-table.ts';
import { listen, portOf, stopServer } from '../../fixtures/listen.ts';
import { readingOf } from '../../fixtures/open-dashboard.ts';
import { listPriceChanges } from '../../lambda/dashboard/price-changes/read-price-changes.ts';
import { openModelUse } from '../../lambda/data/prices/model-use.ts';
import { openNewestBook } from '../../lambda/data/prices/newest-book.ts';
import { openPriceVersions } from '../../lambda/data/prices/price-versions.ts';
import { openPriceChanges, openRepricingProgress } from '../../lambda/data/prices/repricing.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { readPublicFile } from '../../lambda/integrations/read-public-file.ts';
import { readFeed } from '../../lambda/price-feed/read-feed.ts';
import { modelUse, withObservers } from '../../lambda/usage-recorder/observers.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { repriceChanged } from '../../lambda/usage-recorder/repricing/reprice-changed.ts';
import { clearOfMidnight } from '../clear-of-midnight.ts';
import { runOps } from '../ops/run-command.ts';
import { tableForEachTest } from '../table-for-tests.ts';
import { closeEvent, requestIdAt } from '../usage-recorder/events.ts';
import { ledgerSums, total } from '../usage-recorder/ledger-sums.ts';

await clearOfMidnight();

const APPEARED = Date.parse('2026-11-20T12:00:00Z');
const logged: unknown[] = [];
const log = (...line: unknown[]) => void logged.push(line);
const logger = { info: log, warn: log, error: log };
let counted: Record<string, number> = {};
const metrics = {
  addMetric: (name: string, _: unknown, value: number) => {
    counted[name] = value;
  },
};

const table = tableForEachTest();
let server: Server;
let published: Record<string, unknown> = {};
let clock = APPEARED;
const now = () => clock;

beforeAll(async () => {
  server = createServer((request, response) => {
    const body = published[request.url ?? ''];
    if (request.url === '/upgrades')
      request.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    else if (body === undefined) response.writeHead(503).end();
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(body)));
  });
  await listen(server);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  counted = {};
  clock = APPEARED;
});

/** What genai-prices publishes, of Cohere: the list in the code, with some models added or replaced. */
const genaiData = (models: readonly { id: string; match: unknown; prices: unknown }[]) => [
  {
    id: 'cohere',
    models: [
      ...models,
      ...(bundledLists.genaiPrices['cohere']?.models ?? []).filter(
        ({ id }) => !models.some((model) => model.id === id),
      ),
    ],
  },
];
/** The same of models.dev. */
const modelsDevData = (
  models: Readonly<Record<string, { input: number; output: number; [member: string]: unknown }>>,
) => ({
  cohere: {
    models: Object.fromEntries([
      ...Object.entries(bundledLists.secondPrices.prices['cohere'] ?? {}).map(([id, { input, output, cacheRead }]) => [
        id,
        { cost: { input, output, cache_read: cacheRead } },
      ]),
      ...Object.entries(models).map(([id, cost]) => [id, { cost }]),
    ]),
  },
});

const exactly = (id: string, prices: unknown) => ({ id, match: { equals: id }, prices });
const both = { 'genai-prices': '/genai', 'models.dev': '/models' };
/** The second source, which has the new model too. */
const second = () => ({ '/models': modelsDevData({ 'command-99': { input: 2, output: 8 } }) });
const command99 = (input_mtok: number, output_mtok: number) => exactly('command-99', { input_mtok, output_mtok });
const newModel = command99(2, 8);
const command98 = exactly('command-98', { input_mtok: 1, output_mtok: 1 });

const run = (sources = { 'genai-prices': '/genai' } as Record<string, string>) => {
  const port = portOf(server);
  const urls = Object.fromEntries(
    Object.entries(sources).map(([name, path]) => [name, `http://127.0.0.1:${port}${path}`]),
  );
  return readFeed({
    sources: urls,
    versions: openPriceVersions(table),
    readFile: readPublicFile,
    logger,
    metrics,
    now: () => new Date(clock),
  })();
};

/** Publishes, and runs once some time later. The sources are those of the lists. */
const runWith = (
  lists: typeof published,
  { afterMs = 0, sources = Object.fromEntries(Object.entries(both).filter(([, path]) => path in lists)) } = {},
) => {
  published = lists;
  clock += afterMs;
  return run(sources);
};
/** The new model has one price in both sources, then ten times that in the first. */
const raiseTenfold = async () => {
  for (const model of [newModel, command99(20, 8)]) await runWith({ '/genai': genaiData([model]), ...second() });
};

const bookNow = () => openNewestBook({ versions: openPriceVersions(table), onFallback: (error) => log(error), now })();
const inputPrice = async (model: string, at = new Date(clock).toISOString(), inputTokens = 10) => {
  const rate = (await bookNow())({ provider: 'cohere', model, at: new Date(at), inputTokens })?.rates.input;
  return rate === undefined ? null : Number(rate) / 1e12;
};
const waiting = async () => (await openPriceVersions(table).readFeed()).waiting;

describe('a new model in the feed', () => {
  it('has a price within an hour, without a deployment, also for the requests of before', async () => {
    const accountId = 'svc_new_model';
    const models = openModelUse(table);
    // One process: it keeps its book as the deployed recorder does.
    const loadBook = openNewestBook({ versions: openPriceVersions(table), onFallback: log, now });
    const record = withObservers(openRecorder(table, { logger, now, loadBook }), [modelUse(models.note)], logger);
    let n = 0;
    const ask = async (startedMs: number, more: { accountId?: string; reading?: object } = {}) => {
      const startedAt = new Date(startedMs).toISOString();
      const event = closeEvent({
        accountId: more.accountId ?? accountId,
        requestId: requestIdAt(startedAt, n++),
        startedAt,
        provider: 'cohere',
        status: 200,
        reading: {
          ...closeEvent().reading,
          dialect: 'openai-chat',
          usageSource: 'reported',
          usage: { prompt_tokens: 1_000, completion_tokens: 100 },
          modelRequested: 'command-99',
          modelServed: 'command-99',
          ...more.reading,
        },
      });
      const [result] = await record([event]);
      expect(result?.kind).toBe('recorded');
      return openRequests(table, now).find(event.accountId as string, event.requestId);
    };
    let refusals = 0;
    const refusing = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems' && refusals-- > 0)
        throw cancelled((command.input.TransactItems ?? []).map(() => 'ThrottlingError'));
      return send();
    });
    const reprice = repriceChanged({
      versions: openPriceVersions(table),
      progress: openRepricingProgress(table),
      usesOf: models.of,
      requests: openRequests(table, now),
      changes: openPriceChanges(table),
      repricerOf: (findPrice) => openRepricer(refusing, (event) => priceRequest(event, findPrice)),
      logger,
      metrics,
      now: () => new Date(clock),
    });

    const yesterday = await ask(APPEARED - 30 * HOUR_MS);
    expect(yesterday).toMatchObject({ provenance: 'unknown', costNanoUsd: null, priceVersion: null });
    // The last results of a batch name another model.
    const groups = ['command-99', 'command-r-08-2024'].map((model) => ({
      ...{ model, usage: { prompt_tokens: 1_000, completion_tokens: 100 }, largest_prompt_tokens: 1_000 },
    }));
    const usage = { prompt_tokens: 2_000, completion_tokens: 200, batch_groups: groups };
    const reading = { usage, modelRequested: null, modelServed: 'command-r-08-2024' };
    const batch = await ask(APPEARED - 30 * HOUR_MS, { accountId: 'svc_batch', reading });
    expect(batch?.costNanoUsd).toBeNull();

    published = { '/genai': genaiData([newModel]), ...second() };
    let pricedAt: number | null = null;
    // The table takes no change of the first run that has some.
    refusals = 20;
    const noDelay = jest.spyOn(Math, 'random').mockReturnValue(0);
    const interruptions: unknown[] = [];
    for (let minute = 5; minute <= 60; minute += 5) {
      clock = APPEARED + minute * MINUTE_MS;
      if (minute % 15 === 0) await run(both);
      await reprice(() => 14 * MINUTE_MS).catch((error) => {
        interruptions.push(error);
        refusals = 0;
      });
      // A recorder may still use the prices of before until minute 25. That run is refused.
      expect((await openRepricingProgress(table).read()).done).toBe(minute < 30 ? 0 : 1);
      const asked = await ask(clock);
      if (asked?.provenance === 'computed') pricedAt ??= minute;
    }
    noDelay.mockRestore();
    expect(interruptions).toEqual([expect.objectContaining({ name: 'TransactionCanceledException' })]);
    expect(counted).not.toHaveProperty('RepricingFailures');
    expect(pricedAt).toBeLessThanOrEqual(20);

    const cost = 1_000 * 2_000 + 100 * 8_000;
    const before = await openRequests(table, now).find(accountId, yesterday?.requestId ?? '');
    expect(before).toMatchObject({
      provenance: 'computed',
      costNanoUsd: cost,
      priceVersion: '1',
      priceEvidence: { sources: { 'genai-prices': '2026-11-20', 'models.dev': '2026-11-20' }, agree: true },
    });
    const batchNow = await openRequests(table, now).find('svc_batch', batch?.requestId ?? '');
    expect(batchNow?.costNanoUsd).toBeGreaterThan(cost);
    const sums = total((await ledgerSums(table, accountId, [])).days);
    expect(sums).toMatchObject({ requests: 13, costComputedNanoUsd: 13 * cost });

    const report = await listPriceChanges(readingOf(table, () => new Date()))({ caller: { accountId } } as never);
    const unpricedToday = (pricedAt ?? 0) / 5 - 1;
    expect(report).toEqual({
      feed: { version: 1, checkedAt: expect.any(String), waiting: [] },
      items: [
        {
          version: 1,
          repricedAt: expect.any(String),
          firstDay: '2026-11-19',
          lastDay: '2026-11-20',
          requests: 1 + unpricedToday,
          unknownBefore: 1 + unpricedToday,
          unknownAfter: 0,
          nanoUsdBefore: 0,
          nanoUsdAfter: (1 + unpricedToday) * cost,
          models: [expect.objectContaining({ provider: 'cohere', model: 'command-99', requests: 1 + unpricedToday })],
        },
      ],
    });
    expect(await openRepricingProgress(table).read()).toEqual({ done: 1, job: null });
  });

  it('is no new version when nothing changed', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    await run();
    expect((await openPriceVersions(table).readFeed()).version).toBe(1);
  });
});

describe('a changed price', () => {
  it('holds from when it was seen, and the price of before for the time before', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    await runWith({ '/genai': genaiData([command99(2.5, 8)]) }, { afterMs: HOUR_MS });
    expect(await inputPrice('command-99')).toBe(2.5);
    expect(await inputPrice('command-99', '2026-11-20T12:30:00Z')).toBe(2);
  });

  it('holds from the date that the feed gives', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    const dated = [
      { prices: { input_mtok: 2, output_mtok: 8 } },
      { constraint: { start_date: '2026-11-18' }, prices: { input_mtok: 2.5, output_mtok: 8 } },
    ];
    await runWith({ '/genai': genaiData([exactly('command-99', dated)]) }, { afterMs: HOUR_MS });
    expect(await inputPrice('command-99', '2026-11-17T23:59:00Z')).toBe(2);
    expect(await inputPrice('command-99', '2026-11-18T00:00:00Z')).toBe(2.5);
  });

  it('waits for a person where it is more than half higher, and is taken once accepted', async () => {
    await raiseTenfold();
    expect(await inputPrice('command-99')).toBe(2);
    const [before, after] = [2, 20].map((input) => ({ input, output: 8 }));
    expect(await waiting()).toMatchObject([{ number: 1, model: 'command-99', before, after }]);
    expect(counted['WaitingPriceChanges']).toBe(1);
    await openPriceVersions(table).decide(1, 'accepted');
    clock += 15 * MINUTE_MS;
    await run(both);
    expect(await inputPrice('command-99')).toBe(20);
    expect(await inputPrice('command-99', '2026-11-20T11:59:00Z')).toBe(2);
    expect(await waiting()).toEqual([]);
  });

  it('stays out once refused, and waits no more', async () => {
    await raiseTenfold();
    await openPriceVersions(table).decide(1, 'refused');
    await run(both);
    expect(await inputPrice('command-99')).toBe(2);
    expect(counted['WaitingPriceChanges']).toBe(0);
    await expect(openPriceVersions(table).decide(7, 'accepted')).rejects.toThrow(
      'No price change with the number 7 waits',
    );
  });

  it('is shown by `npm run prices -- --feed`, which takes the decision too', async () => {
    const feed = (...args: string[]) =>
      runOps('prices', ['--feed', '--table', table.name, ...args], {
        env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint },
      });
    expect((await feed()).stdout).toMatch(/^No version yet[\s\S]*No change waits\.\n$/);
    await raiseTenfold();
    const { stdout } = await feed();
    expect(stdout).toMatch(
      /^Version 2 holds\.\n[\s\S]*\nVersion 1, 2026-11-20T12:00:00.000Z, SHA-256 [0-9a-f]{64}, 2 changes:\n/,
    );
    expect(stdout).toContain('  cohere command-99  none → input 2, output 8  (genai-prices)\n');
    const change = '  1  cohere command-99  input 2, output 8 → input 20, output 8  (genai-prices), ';
    expect(stdout).toContain(`${change}waits (step), seen since 2026-11-20T12:00:00.000Z\n`);
    expect(await feed('--accept', '7')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No price change with the number 7 waits.'),
    });
    expect(await feed('--accept', '1', '--refuse', '1')).toMatchObject({ code: 2, stdout: '' });
    expect((await feed('--accept', '1')).stdout).toContain(`${change}accepted`);
    await run(both);
    expect(await inputPrice('command-99')).toBe(20);
  });

  it('is taken at once where the second source confirms it', async () => {
    await runWith({ '/genai': genaiData([newModel]), '/models': modelsDevData({}) });
    const confirming = modelsDevData({ 'command-99': { input: 20, output: 80 } });
    await runWith({ '/genai': genaiData([command99(20, 80)]), '/models': confirming });
    expect(await inputPrice('command-99')).toBe(20);
  });
});

describe('a price that is not sure', () => {
  const versions = () => openPriceVersions(table);
  const priced = async (model: string) => {
    const { rates, doubt, evidence } =
      (await bookNow())({ provider: 'cohere', model, at: new Date(clock), inputTokens: 10 }) ?? {};
    return { input: rates?.input === undefined ? null : Number(rates.input) / 1e12, doubt, evidence };
  };
  const none = () => ({ '/models': modelsDevData({}) });

  it('is the first of a model, from one source alone, until the other has it', async () => {
    await runWith({ '/genai': genaiData([newModel]), ...none() });
    expect(await priced('command-99')).toEqual({
      ...{ input: 2, doubt: 'oneSource', evidence: { sources: { 'genai-prices': '2026-11-20' }, agree: null } },
    });
    expect(counted['WaitingPriceChanges']).toBe(0);
    await runWith({ '/genai': genaiData([newModel]), ...second() }, { afterMs: 24 * HOUR_MS });
    expect(await priced('command-99')).toEqual({
      ...{ input: 2, doubt: null },
      evidence: { sources: { 'genai-prices': '2026-11-21', 'models.dev': '2026-11-21' }, agree: true },
    });
    expect(await waiting()).toEqual([]);
  });

  it('stays so while the other source has another one, or does not respond', async () => {
    await runWith({
      '/genai': genaiData([newModel]),
      '/models': modelsDevData({ 'command-99': { input: 4, output: 8 } }),
    });
    expect(await priced('command-99')).toMatchObject({ input: 2, doubt: 'oneSource', evidence: { agree: false } });
    await runWith({ '/genai': genaiData([newModel, command98]) }, { sources: both });
    expect(await priced('command-99')).toMatchObject({ input: 2, doubt: 'oneSource' });
    expect((await waiting()).map(({ model, source }) => [model, source])).toEqual([
      ['command-98', 'genai-prices'],
      ['command-99', 'genai-prices'],
      ['command-99', 'models.dev'],
    ]);
  });

  it.each([
    ['accepted', { input: 2, doubt: null }],
    ['refused', { input: null }],
  ] as const)('is decided on by a person: %s', async (decision, expected) => {
    await runWith({ '/genai': genaiData([newModel]), ...none() });
    await versions().decide(1, decision);
    clock += 15 * MINUTE_MS;
    for (let times = 0; times < 2; times++) {
      await run(both);
      expect(await priced('command-99')).toMatchObject(expected);
    }
  });

  it.each([
    // The dearest of the family is at 2.5 and 10, the cheapest at 0.0375.
    ['high', 25.1, 8],
    ['high for output', 2, 101],
    ['low', 0.0037, 8],
  ])('is not taken where it is too %s for its family', async (_, input_mtok, output_mtok) => {
    await runWith({ '/genai': genaiData([command99(input_mtok, output_mtok)]), ...none() });
    expect(await priced('command-99')).toMatchObject({ input: null });
    expect(await waiting()).toEqual([expect.objectContaining({ number: 1, why: 'range', before: null })]);
    expect(counted['WaitingPriceChanges']).toBe(1);
    await versions().decide(1, 'accepted');
    await run(both);
    expect(await priced('command-99')).toMatchObject({ input: input_mtok, doubt: null });
  });

  it('is not taken where only long prompts cost too much for its family', async () => {
    const tiers = [{ input: 90_000, output: 8, tier: { size: 200_000 } }];
    await runWith({ '/models': modelsDevData({ 'command-99': { input: 2, output: 8, tiers } }) });
    expect(await priced('command-99')).toMatchObject({ input: null });
  });

  it('is the price of before, as long as a change of it waits', async () => {
    await raiseTenfold();
    expect(await priced('command-99')).toMatchObject({ input: 2, doubt: 'changeWaits' });
    await versions().decide(1, 'refused');
    clock += 15 * MINUTE_MS;
    await run(both);
    expect(await priced('command-99')).toMatchObject({ input: 2, doubt: null });
  });

  const models = Array.from({ length: 8 }, (_, index) => `command-9${index}`);
  const allAt = (input: number, output: number, count = models.length) => ({
    '/genai': genaiData(
      models.map((id, index) =>
        exactly(id, index < count ? { input_mtok: input, output_mtok: output } : { input_mtok: 2, output_mtok: 8 }),
      ),
    ),
  });
  const secondAt = (input: number, output: number) => ({
    '/models': modelsDevData(Object.fromEntries(models.map((id) => [id, { input, output }]))),
  });

  it('is one of many that one source changes at once, each by less than half', async () => {
    await runWith({ ...allAt(2, 8), ...secondAt(2, 8) });
    await runWith({ ...allAt(1.02, 4.08), ...secondAt(2, 8) }, { afterMs: HOUR_MS });
    for (const model of models) expect(await priced(model)).toMatchObject({ input: 2, doubt: 'changeWaits' });
    expect((await waiting()).map(({ why }) => why)).toEqual(models.map(() => 'many'));
    // In the next run they wait under the same numbers, and the second source confirms them.
    await runWith({ ...allAt(1.02, 4.08), ...secondAt(1.02, 4.08) }, { afterMs: HOUR_MS });
    for (const model of models) expect(await priced(model)).toMatchObject({ input: 1.02, doubt: null });
  });

  it('is taken where few change at once', async () => {
    await runWith({ ...allAt(2, 8), ...secondAt(2, 8) });
    await runWith({ ...allAt(1.02, 4.08, 3), ...secondAt(2, 8) }, { afterMs: HOUR_MS });
    expect(await priced('command-90')).toMatchObject({ input: 1.02, doubt: null, evidence: { agree: false } });
  });
});

describe('an override', () => {
  const haiku = (input_mtok: number) => [
    {
      id: 'anthropic',
      models: [
        ...(bundledLists.genaiPrices['anthropic']?.models ?? []),
        exactly('claude-haiku-5-5', {
          input_mtok,
          ...{ output_mtok: 5 * input_mtok, cache_read_mtok: input_mtok / 10, cache_write_mtok: 1.25 * input_mtok },
        }),
      ],
    },
  ];
  const secondHaiku = (input: number) => ({
    anthropic: {
      models: {
        ...Object.fromEntries(
          Object.entries(bundledLists.secondPrices.prices['anthropic'] ?? {}).map(([id, prices]) => [
            id,
            { cost: { ...prices, cache_read: prices.cacheRead, cache_write: prices.cacheWrite } },
          ]),
        ),
        'claude-haiku-5-5': {
          cost: { input, output: 5 * input, cache_read: input / 10, cache_write: 1.25 * input },
        },
      },
    },
  });
  const priced = async () => {
    const query = { provider: 'anthropic', model: 'claude-haiku-5-5', at: new Date(clock), inputTokens: 10 };
    const { rates, doubt } = (await bookNow())(query) ?? {};
    return [Number(rates?.input) / 1e12, Number(rates?.output) / 1e12, doubt];
  };
  const publish = async (first: number, other: number) => {
    await runWith({ '/genai': haiku(first), '/models': secondHaiku(other) }, { afterMs: 24 * HOUR_MS });
  };

  it('holds while the sources have the same', async () => {
    await publish(0.1, 0.1);
    expect(await priced()).toEqual([0.1, 0.5, null]);
  });

  it('ends where both sources change after its day', async () => {
    await publish(0.1, 0.1);
    await publish(0.2, 0.2);
    // What a cache of an hour costs is in the override only.
    expect(await priced()).toEqual([0.2, 1, 'overrideWaits']);
    clock -= 12 * HOUR_MS;
    expect((await priced()).slice(0, 2)).toEqual([0.1, 0.5]);
  });

  it('waits where one source changes, or both do to different prices', async () => {
    await publish(0.1, 0.1);
    await publish(0.14, 0.1);
    expect(await priced()).toEqual([0.1, 0.5, 'overrideWaits']);
    expect(await waiting()).toContainEqual(
      expect.objectContaining({
        ...{ why: 'override', source: 'genai-prices', model: 'claude-haiku-5-5' },
        before: expect.objectContaining({ input: 0.1 }),
        after: expect.objectContaining({ input: 0.14 }),
      }),
    );
    // One for each size of prompts, also of the same model on Vertex AI.
    expect(counted['WaitingPriceChanges']).toBe(4);
    for (const { number } of (await waiting()).filter(({ why }) => why === 'override'))
      await openPriceVersions(table).decide(number, 'refused');
    await run(both);
    expect(counted['WaitingPriceChanges']).toBe(0);
    await publish(0.14, 0.13);
    expect(await priced()).toEqual([0.1, 0.5, 'overrideWaits']);
  });
});

describe('prices of long prompts', () => {
  const legacy = { input: 1, output: 5, context_over_200k: { input: 2, output: 7.5 } };
  const pricesAt = (...sizes: number[]) => Promise.all(sizes.map((size) => inputPrice('command-99', undefined, size)));

  it.each([
    ['above 200,000', [{ input: 2, output: 7.5, tier: { type: 'context', size: 272_000 } }], [1, 1, 2, 2]],
    ['below it', [{ input: 3, output: 7.5, tier: { size: 100_000 } }], [1, 3, 3, 3]],
    [
      'twice',
      [
        { input: 9, output: 9, tier: { size: 272_000 } },
        { input: 2, output: 7, tier: { size: 128_000 } },
      ],
      [1, 2, 9, 9],
    ],
  ])('begin where the list says: %s', async (_, tiers, expected) => {
    await runWith({ '/models': modelsDevData({ 'command-99': { ...legacy, tiers } }) });
    expect(await pricesAt(90_000, 250_000, 272_001, 900_000)).toEqual(expected);
  });

  it('begin where the list says after a version that was read without its limits, also for the requests of before', async () => {
    const versions = openPriceVersions(table);
    const prices = { cohere: { 'command-99': { input: 1, output: 5, over200k: { input: 2, output: 7.5 } } } };
    const lists = { genaiPrices: bundledLists.genaiPrices, secondPrices: { name: 'models.dev', prices } };
    await versions.save(await versions.readFeed(), { lists, changes: [], acceptedAt: new Date(clock).toISOString() });
    expect(await pricesAt(200_000, 200_001)).toEqual([1, 2]);
    const tiers = [{ input: 2, output: 7.5, tier: { size: 272_000 } }];
    await runWith({ '/models': modelsDevData({ 'command-99': { ...legacy, tiers } }) }, { afterMs: HOUR_MS });
    expect(await pricesAt(250_000, 272_001)).toEqual([1, 2]);
    expect(await inputPrice('command-99', '2026-11-20T12:30:00Z', 250_000)).toBe(1);
  });
});

describe('a broken feed', () => {
  it('takes no price from a model', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    await runWith({ '/genai': genaiData([]) });
    expect(await inputPrice('command-99')).toBe(2);
  });

  it('cannot hide a model behind the pattern of another', async () => {
    const prices = { input_mtok: 0.001, output_mtok: 0.001 };
    await runWith({ '/genai': genaiData([{ id: 'all', match: { starts_with: 'command' }, prices }]) });
    expect(await inputPrice('command-a')).toBe(2.5);
    expect((await waiting()).length).toBeGreaterThan(0);
  });

  it.each([
    ['negative', { input_mtok: -1, output_mtok: 1 }],
    ['absurdly high', { input_mtok: 1e9, output_mtok: 1 }],
    ['zero', { input_mtok: 0, output_mtok: 0 }],
  ])('adds no model with a %s price', async (_, prices) => {
    await runWith({ '/genai': genaiData([exactly('command-99', prices)]) });
    expect(await inputPrice('command-99')).toBeNull();
  });

  it('adds no pattern that takes long to match', async () => {
    await runWith({ '/genai': genaiData([{ ...newModel, match: { regex: '^(a+)+$' } }]) });
    expect((await openPriceVersions(table).readFeed()).version).toBe(0);
  });

  it.each([
    ['does not respond', undefined],
    ['has another shape', { error: 'moved' }],
    ['lacks most models', [{ id: 'cohere', models: [newModel] }]],
  ])('changes nothing where it %s', async (_, body) => {
    await runWith({ '/genai': genaiData([newModel]) });
    await runWith({ '/genai': body }, { afterMs: HOUR_MS });
    expect(await inputPrice('command-99')).toBe(2);
  });

  it('takes the prices of other providers where one lacks most of its models', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    await runWith({ '/genai': genaiData([command99(9, 8)]) });
    const mistral = { id: 'mistral', models: [newModel, ...(bundledLists.genaiPrices['mistral']?.models ?? [])] };
    await runWith({ '/genai': [{ id: 'cohere', models: [command99(2.2, 8)] }, mistral] });
    expect(counted['RefusedPriceSources']).toBe(1);
    expect(await waiting()).toContainEqual(expect.objectContaining({ provider: 'cohere', why: 'step' }));
    expect(await inputPrice('command-99')).toBe(2);
    const at = new Date(clock);
    const found = (await bookNow())({ provider: 'mistral', model: 'command-99', at, inputTokens: 10 });
    expect(found?.rates.input).toBe(2_000_000_000_000n);
  });

  it('has the age of its last whole run', async () => {
    await runWith({ '/genai': genaiData([]) });
    expect(counted['PriceFeedAgeMs']).toBe(0);
    published = {};
    clock += 7 * HOUR_MS;
    await run();
    expect(counted['PriceFeedAgeMs']).toBe(7 * HOUR_MS);
  });
});

describe('the function', () => {
  it('reads the prices where what providers report cannot be compared, and compares it where there are none to read', async () => {
    published = { '/genai': genaiData([newModel]) };
    // Figures that providers report are read by queries, versions of prices are not.
    let refused = '.Query';
    const queries: string[] = [];
    const proxy = createServer(async (request, response) => {
      const operation = String(request.headers['x-amz-target']);
      const body = await text(request);
      if (operation.endsWith('.Query')) queries.push(body);
      if (operation.endsWith(refused)) {
        response.writeHead(400).end(JSON.stringify({ __type: 'com.amazon#AccessDeniedException' }));
        return;
      }
      const headers = { 'x-amz-target': operation, 'content-type': 'application/x-amz-json-1.0' };
      const authorization = String(request.headers.authorization);
      const passed = await fetch(table.endpoint, {
        ...{ method: 'POST', body },
        headers: { ...headers, authorization, 'x-amz-date': String(request.headers['x-amz-date']) },
      });
      response.writeHead(passed.status, { 'content-type': headers['content-type'] }).end(await passed.text());
    });
    await listen(proxy);
    Object.assign(process.env, {
      ...emulatorVariables,
      TABLE_NAME: table.name,
      PRICE_FEED_SOURCES: JSON.stringify({ 'genai-prices': `http://127.0.0.1:${portOf(server)}/genai` }),
      POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/test',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${portOf(proxy)}`,
    });
    const { handler } = await import('../../lambda/price-feed/handler.ts');
    const run = () => handler({} as ScheduledEvent, { awsRequestId: '1' } as Context, () => {});
    await expect(run()).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } });
    clock = Date.now();
    expect(await inputPrice('command-99')).toBe(2);
    refused = '.GetItem';
    await expect(run()).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } });
    const yesterday = new Date(Date.now() - 24 * HOUR_MS).toISOString().slice(0, 10);
    expect(queries).toEqual([expect.stringContaining(yesterday), expect.stringContaining(yesterday)]);
    await stopServer(proxy);
  });
});

describe('a broken version', () => {
  it('falls back to the version before, and says so', async () => {
    await runWith({ '/genai': genaiData([newModel]) });
    await runWith({ '/genai': genaiData([newModel, command98]) });
    const versions = openPriceVersions(table);
    const failures: Error[] = [];
    const book = await openNewestBook({
      versions: { ...versions, newest: async () => ({ number: 2, sha256: 'another' }) },
      onFallback: (error) => void failures.push(error),
    })();
    expect(failures.map(({ name }) => name)).toEqual(['BrokenPriceVersionError']);
    expect(book({ provider: 'cohere', model: 'command-99', at: new Date(), inputTokens: 1 })?.version).toBe('1');
    expect(book({ provider: 'cohere', model: 'command-98', at: new Date(), inputTokens: 1 })).toBeNull();
  });

  it('does not change the book that is in use', async () => {
    for (const models of [[newModel], [newModel, command98]]) await runWith({ '/genai': genaiData(models) });
    const versions = openPriceVersions(table);
    const [first] = (await Array.fromAsync(versions.list())).reverse();
    const found = [first, { number: 4, sha256: 'another' }];
    const newest = async () => found.shift() ?? null;
    const load = openNewestBook({ versions: { ...versions, newest }, onFallback: log, now });
    await load();
    clock += 5 * MINUTE_MS;
    expect((await load())({ provider: 'cohere', model: 'command-99', at: new Date(), inputTokens: 1 })?.version).toBe(
      '1',
    );
    expect(found).toEqual([]);
  });

  it('falls back to the book in the code where the table does not respond', async () => {
    const down = () => Promise.reject(new Error('down'));
    const book = await openNewestBook({ versions: { newest: down, read: down }, onFallback: () => {} })();
    expect(book({ provider: 'cohere', model: 'command-a', at: new Date(), inputTokens: 1 })?.version).toBe('bundled');
  });

  it('is read once in five minutes', async () => {
    let reads = 0;
    const versions = openPriceVersions(table);
    const newest = () => {
      reads += 1;
      return versions.newest();
    };
    const load = openNewestBook({ versions: { ...versions, newest }, onFallback: log, now });
    await Promise.all([load(), load()]);
    clock += 5 * MINUTE_MS - 1;
    await load();
    expect(reads).toBe(1);
    clock += 1;
    await load();
    expect(reads).toBe(2);
  });
});

describe('readPublicFile', () => {
  it.each([
    ['a host within the network by HTTP', 'http://169.254.169.254/latest', 'must begin with https://', 1_000],
    ['a private address', 'https://10.0.0.1/data.json', 'its host must have public addresses only', 1_000],
    ['its own machine', 'https://[::1]/data.json', 'its host must have public addresses only', 1_000],
    ['a server that changes the protocol', '/upgrades', 'it responded with 101', 1_000],
    ['a body that is past the limit once it is decompressed', '/large', 'cannot be decompressed', 1_000],
    ['a body that is past the limit as it comes', '/large', 'it has more than 100 bytes', 100],
  ])('reads nothing from %s', async (_, url, reason, maxBytes) => {
    published = { '/large': 'x'.repeat(100_000) };
    const address = new URL(url, `http://127.0.0.1:${portOf(server)}`).href;
    await expect(readPublicFile(address, { timeoutMs: 60_000, maxBytes })).rejects.toThrow(reason);
  });
});
