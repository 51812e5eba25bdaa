import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import { emulatedTable } from '../../../fixtures/emulated-table.ts';
import type { CloseEvent, OpenEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { startSqs } from '../../../local/emulators/sqs.ts';
import { newAccount } from '../../data/new-account.ts';
import { SEED } from '../../seed.ts';
import { closeEvent, openEvent } from '../../usage-recorder/events.ts';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { pathOf, tokensOf } from '../harness/provider.ts';
import { openQueues, type Queues } from '../harness/queues.ts';
import { reconcile } from '../harness/reconcile.ts';
import type { Sent } from '../harness/traffic.ts';
import { startRecorder, type WorkingRecorder } from '../harness/working-recorder.ts';
import { randomFrom } from '../random.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

interface Context {
  readonly table: Awaited<ReturnType<typeof emulatedTable>>;
  readonly queues: Queues;
  readonly recorder: WorkingRecorder;
  close(): Promise<void>;
}

const REQUESTS: Record<Scale, number> = { quick: 60, full: 1_000 };
/** What is good is never given up, and no batch is delivered again before it is done, on however slow a machine. */
const LIMITS = { maxReceiveCount: 1_000, visibilitySeconds: 30 };

type Body = { readonly body: string; readonly delaySeconds?: number };

const put = async ({ sqs, queueUrl }: Queues, bodies: readonly Body[]): Promise<void> => {
  for (let from = 0; from < bodies.length; from += 10) {
    const Entries = bodies.slice(from, from + 10).map(
      ({ body, delaySeconds = 0 }, index): SendMessageBatchRequestEntry => ({
        Id: String(index),
        MessageBody: body,
        DelaySeconds: delaySeconds,
      }),
    );
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    assert.deepEqual(Failed, []);
  }
};

const MAX_SHARING = 8;

/** Some of the events alone, the others in messages that they share, as a busy gateway sends them. */
const inMessages = (events: readonly string[], random: ReturnType<typeof randomFrom>): string[] => {
  const messages: string[] = [];
  const rest = [...events];
  while (rest.length > 0) {
    const some = rest.splice(0, 1 + random.below(MAX_SHARING));
    messages.push(some.length === 1 ? (some[0] as string) : `[${some.join(',')}]`);
  }
  return messages;
};

/** The two events of a request that went well. */
const eventsOf = (accountId: string, n: number): { readonly open: OpenEvent; readonly close: CloseEvent } => {
  const facts = { accountId, n, path: pathOf(n), startedAt: new Date(Date.now() - 1_000).toISOString() };
  const open = openEvent(facts);
  return {
    open,
    close: closeEvent({ ...facts, requestId: open.requestId, reading: { usage: { ...tokensOf(n), total_tokens: 0 } } }),
  };
};

const sentAs = ({ requestId }: OpenEvent, n: number): Sent => ({
  n,
  status: 200,
  route: 'governed',
  requestId,
  whole: true,
  headersMs: 0,
});

const workedOff = ({ queues }: Context): Promise<void> =>
  eventually(async () => (await queues.pending()) === 0, 'the queue is worked off', DELIVERY_MS);

const text = (event: object): string => JSON.stringify(event);

const disorder: Scenario<Context> = {
  name: 'duplicated, reordered, delayed',
  run: async (context, scale) => {
    const { table, queues } = context;
    const { accountId } = await newAccount(table);
    const random = randomFrom(SEED);
    const pairs = Array.from({ length: REQUESTS[scale] }, (_, n) => eventsOf(accountId, n));
    const events = pairs.flatMap(({ open, close }) => [
      ...Array.from({ length: 1 + random.below(3) }, () => text(open)),
      ...Array.from({ length: 1 + random.below(3) }, () => text(close)),
    ]);
    const bodies = inMessages(random.shuffled(events), random);
    await put(
      queues,
      bodies.map((body) => ({ body, delaySeconds: random.below(3) })),
    );
    await workedOff(context);
    const { records } = await reconcile(
      table,
      accountId,
      pairs.map(({ open }, n) => sentAs(open, n)),
    );
    assert.ok(records.every(({ outcome, costNanoUsd }) => outcome === 'completed' && costNanoUsd !== null));
    return `${events.length} events in ${bodies.length} messages, ${records.length} records, counters exact`;
  },
};

/** Messages that no version of this gateway sends, by what is wrong with them. */
const poison = (accountId: string): ReadonlyMap<string, string> => {
  const { close } = eventsOf(accountId, 0);
  return new Map([
    ['not JSON', 'hello'],
    ['cut JSON', text(close).slice(0, -20)],
    ['JSON that is no object', '7'],
    ['an empty list', '[]'],
    ['an object of another kind', '{"kind":"refund"}'],
    ['another version', text({ ...close, version: 2 })],
    ['an id that is none', text({ ...close, requestId: '../../etc' })],
    ['a time that is none', text({ ...close, startedAt: 'yesterday' })],
    ['a negative count', text({ ...close, responseBytes: -1 })],
    ['a foreign provider', text({ ...close, provider: 'acme' })],
    ['a tag of 1,000 characters', text({ ...close, tag: 't'.repeat(1_000) })],
    ['a path of 1,000 characters', text({ ...close, path: `/${'p'.repeat(1_000)}` })],
    ['200 KB of rubbish', 'x'.repeat(200_000)],
    ['200 KB of brackets', '['.repeat(200_000)],
  ]);
};

const poisoned: Scenario<Context> = {
  name: 'poison among good ones',
  run: async (context) => {
    const { table, queues, recorder } = context;
    const { accountId } = await newAccount(table);
    const random = randomFrom(SEED + 1);
    const good = Array.from({ length: 40 }, (_, n) => eventsOf(accountId, n + 1));
    const bad = poison(accountId);
    recorder.lines.length = 0;
    // Alone, and, where it is an object, among others in a message.
    const objects = [...bad.values()].filter((body) => body.startsWith('{') && body.endsWith('}'));
    const shared = inMessages(random.shuffled([...good.map(({ close }) => text(close)), ...objects]), random);
    const bodies = [...shared, ...bad.values()].map((body) => ({ body }));
    await put(queues, random.shuffled(bodies));
    await workedOff(context);
    await reconcile(
      table,
      accountId,
      good.map(({ open }, n) => sentAs(open, n + 1)),
    );
    const dead = await queues.deadLetters();
    // A message that is delivered twice may be there twice.
    const bodiesOfDead = new Set(dead.map(({ Body }) => Body));
    assert.deepEqual([...bodiesOfDead].sort(), [...bad.values()].sort(), 'they are in the dead letters');
    for (const { MessageId, Body = '' } of dead) {
      const [, id = ''] = recorder.lines.join('\n').match(`"messageId":"([^"]+)","deadLetterId":"${MessageId}"`) ?? [];
      const reasons = recorder.lines.filter((line) => id !== '' && line.includes(id));
      assert.ok(reasons.length >= 1, 'each with its reason in the log');
      assert.match(reasons[0] ?? '', /Message is not a usage event.*"issues":\["[^"]+/);
      assert.ok(!reasons.some((line) => Body.length > 20 && line.includes(Body.slice(0, 200))), 'and not its content');
    }
    return `${good.length} recorded; ${bad.size} in the dead letters, each with its reason in the log`;
  },
};

const oversized: Scenario<Context> = {
  name: 'larger than the table takes',
  run: async (context) => {
    const { table, queues, recorder } = context;
    const { accountId } = await newAccount(table);
    const good = Array.from({ length: 20 }, (_, n) => eventsOf(accountId, n + 1));
    const usage = { prompt_tokens: 1, completion_tokens: 1, note: 'x'.repeat(150_000) };
    const wide = eventsOf(accountId, 100);
    const bounded = text({ ...wide.close, reading: { ...wide.close.reading, usage } });
    // Of text that deflates to 450 KB.
    const method = randomBytes(450_000).toString('base64');
    const refused = text({ ...eventsOf(accountId, 101).close, method });
    recorder.lines.length = 0;
    await put(queues, [...good.slice(0, 10).map(({ close }) => ({ body: text(close) })), { body: bounded }]);
    await put(queues, [{ body: refused }]);
    await put(
      queues,
      good.slice(10).map(({ close }) => ({ body: text(close) })),
    );
    await workedOff(context);
    const sent = [...good.map(({ open }, n) => sentAs(open, n + 1)), { ...sentAs(wide.open, 100), whole: false }];
    const { records } = await reconcile(table, accountId, sent);
    assert.equal(records.find(({ requestId }) => requestId === wide.open.requestId)?.readingTruncated, true);
    const dead = new Set((await queues.deadLetters()).map(({ Body }) => Body));
    assert.ok(dead.size === 1 && dead.has(refused), 'it is in the dead letters');
    assert.ok(recorder.lines.some((line) => /Usage event refused by the table/.test(line)));
    return `${records.length} recorded, one without its raw usage; one refused by the table, in the dead letters`;
  },
};

export const messagesGroup: ScenarioGroup<Context> = {
  title: 'Queue messages',
  open: async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'messages-'));
    const [table, sqs] = await Promise.all([emulatedTable(), startSqs({ dataDir })]);
    const queues = await openQueues(sqs.endpoint, LIMITS);
    const recorder = startRecorder(table, queues);
    return {
      table,
      queues,
      recorder,
      close: async () => {
        await recorder.stop();
        queues.sqs.destroy();
        await Promise.all([sqs.stop(), table.stop()]);
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  },
  close: (context) => context.close(),
  scenarios: [disorder, poisoned, oversized],
};
