import { describe, expect, it } from '@jest/globals';
import { emulatedQueue } from '../../../fixtures/emulated-queue.ts';
import type { UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { awsCaller, awsService } from '../../../lambda/gateway/aws/aws-json.ts';
import { undiciTransport } from '../../../lambda/gateway/aws/transport-undici.ts';
import { usageQueue, writeToOutbox } from '../../../lambda/gateway/tracking/usage-queue.ts';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds: number;
  readonly MessageSystemAttributes?: object;
}

const event = (index: number) =>
  ({ kind: 'open', requestId: `0199-${index.toString(16).padStart(4, '0')}` }) as UsageEvent;

/** A fake queue whose responses the test gives. */
const manualSqs = () => {
  const calls: {
    entries: Entry[];
    respond: (value: Record<string, unknown>) => void;
    refuse: (error: Error) => void;
  }[] = [];
  const call = (_operation: string, input: object) =>
    new Promise<Record<string, unknown>>((respond, refuse) => {
      calls.push({ entries: (input as { Entries: Entry[] }).Entries, respond, refuse });
    });
  return { calls, call };
};

/** How many events each message of a call has. */
const eventsIn = ({ entries }: { readonly entries: readonly Entry[] }): number[] =>
  entries.map(({ MessageBody }) => [JSON.parse(MessageBody)].flat().length);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the usage queue', () => {
  it('sends a lone event at once, in the same turn', async () => {
    const sqs = manualSqs();
    const sent = usageQueue(sqs.call, 'url', 1000)(event(1), 900);
    await new Promise(process.nextTick);
    expect(sqs.calls.map((call) => call.entries.map((entry) => entry.DelaySeconds))).toEqual([[900]]);
    sqs.calls[0]?.respond({});
    await sent;
  });

  it('hands the trace of its request on, where there is one', async () => {
    for (const [trace, expected] of [
      ['Root=1-2-3', { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-2-3' } }],
      [undefined, undefined],
    ] as const) {
      const sqs = manualSqs();
      const sent = usageQueue(sqs.call, 'url', 1000, () => trace)(event(1), 0);
      await new Promise(process.nextTick);
      expect(sqs.calls[0]?.entries[0]?.MessageSystemAttributes).toEqual(expected);
      sqs.calls[0]?.respond({});
      await sent;
    }
  });

  it('batches the events of one turn, and those that collect while batches are in flight', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const sent = Array.from({ length: 34 }, (_, index) => send(event(index), 0));
    await turn();
    // Where more wait than a batch has messages, some share one.
    expect(sqs.calls.map(eventsIn)).toEqual([[8, 8, 8, 8, 2]]);
    sent.push(...Array.from({ length: 5 }, (_, index) => send(event(50 + index), 0)));
    await turn();
    expect(sqs.calls.map(eventsIn).slice(1)).toEqual([[1, 1, 1, 1, 1]]);
    sent.push(...Array.from({ length: 5 }, (_, index) => send(event(60 + index), 0)));
    await turn();
    expect(sqs.calls).toHaveLength(2);
    for (const call of sqs.calls.splice(0)) call.respond({ Successful: [] });
    await turn();
    expect(sqs.calls.map(eventsIn)).toEqual([[1, 1, 1, 1, 1]]);
    sqs.calls[0]?.respond({});
    await Promise.all(sent);
  });

  it('sends open events first, for which clients wait, but takes turns once many others wait', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const queue = (kind: 'open' | 'close', count: number) => {
      for (let index = 0; index < count; index++) send({ ...event(index), kind } as UsageEvent, 0).catch(() => {});
    };
    const kinds = () =>
      sqs.calls
        .splice(0)
        .map(({ entries }) => entries.map(({ MessageBody }) => [JSON.parse(MessageBody)].flat()[0].kind[0]).join(''));
    queue('close', 12);
    queue('open', 15);
    await turn();
    expect(kinds()).toEqual(['oocc']);
    queue('close', 110);
    queue('open', 40);
    await turn();
    // By then 80 close events have left.
    expect(kinds()).toEqual(['cccccccccc', 'ooooocccc']);
  });

  it('has at most 64 batches in flight', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    for (let index = 0; index < 6_000; index++) send(event(index), 0).catch(() => {});
    await turn();
    expect(sqs.calls).toHaveLength(64);
  });

  it('shares a message among events with the same delay, as many as fit it, and never with a large one', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const large = { ...event(99), path: 'x'.repeat(30_000) } as UsageEvent;
    const closes = Array.from({ length: 12 }, (_, index) => ({ ...event(index), kind: 'close' }) as UsageEvent);
    const sent = [send(large, 900), send(event(1), 900), send(event(2), 900), ...closes.map((close) => send(close, 0))];
    await turn();
    expect(sqs.calls.map((call) => [eventsIn(call), call.entries.map(({ DelaySeconds }) => DelaySeconds)])).toEqual([
      [
        [1, 2, 8, 4],
        [900, 900, 0, 0],
      ],
    ]);
    sqs.calls[0]?.respond({});
    await Promise.all(sent);
  });

  it('sends the events of a refused message again, one by one, each with its own result', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const sent = Array.from({ length: 12 }, (_, index) => send(event(index), 0));
    const results = Promise.allSettled(sent);
    await turn();
    expect(sqs.calls.map(eventsIn)).toEqual([[8, 4]]);
    const others = Array.from({ length: 8 }, (_, index) => send(event(20 + index), 0));
    sqs.calls.splice(0)[0]?.respond({ Failed: [{ Id: '1', Code: 'InternalError' }] });
    await turn();
    // Also while others share messages: what is refused for good takes none with it.
    expect(sqs.calls.map(eventsIn)).toEqual([[8, 1, 1, 1, 1]]);
    sqs.calls[0]?.respond({ Failed: [{ Id: '1', Code: 'InvalidMessageContents' }] });
    await Promise.all(others);
    expect((await results).filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('gives each event of a batch its own result', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const [good, bad] = [send(event(90), 0), send(event(91), 5)];
    await turn();
    const batch = sqs.calls[0];
    expect(batch?.entries.map((entry) => [entry.DelaySeconds, JSON.parse(entry.MessageBody).requestId])).toEqual([
      [0, '0199-005a'],
      [5, '0199-005b'],
    ]);
    batch?.respond({ Failed: [{ Id: '1', Code: 'InternalError' }] });
    await good;
    await expect(bad).rejects.toThrow('InternalError');
  });

  it('names the queue, the operation and its time-out, and each message by its place', async () => {
    const calls: unknown[][] = [];
    const send = usageQueue(
      async (...call) => {
        calls.push(call);
        return {};
      },
      'url',
      1234,
    );
    await Promise.all([send(event(1), 0), send(event(2), 30)]);
    expect(calls).toEqual([
      [
        'SendMessageBatch',
        {
          QueueUrl: 'url',
          Entries: [
            { Id: '0', MessageBody: JSON.stringify(event(1)), DelaySeconds: 0 },
            { Id: '1', MessageBody: JSON.stringify(event(2)), DelaySeconds: 30 },
          ],
        },
        1234,
      ],
    ]);
  });

  it('rejects a message that SQS refuses, with or without a code', async () => {
    const send = usageQueue(async () => ({ Failed: [{ Id: '0' }, { Id: '1', Code: 'Throttled' }] }), 'url', 1);
    const results = await Promise.allSettled([send(event(1), 0), send(event(2), 0)]);
    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual([
      'SQS refused the message: Unknown',
      'SQS refused the message: Throttled',
    ]);
  });

  it('takes no more than two batches that are not full', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    for (let index = 0; index < 3; index++) {
      send(event(index), 0).catch(() => {});
      await turn();
    }
    expect(sqs.calls).toHaveLength(2);
    for (let index = 3; index < 11; index++) send(event(index), 0).catch(() => {});
    await turn();
    expect(sqs.calls).toHaveLength(2);
    send(event(11), 0).catch(() => {});
    await turn();
    expect(sqs.calls.map(({ entries }) => entries.length)).toEqual([1, 1, 10]);
  });

  it.each(['🦄', '日本語', 'naïve', '\u2028', '\ud83d', '"\\é', 'a\uffff\ufffeb'])(
    'sends %j in ASCII, which every queue reads alike',
    async (tag) => {
      const sqs = manualSqs();
      void usageQueue(sqs.call, 'url', 1000)({ ...event(1), tag, model: tag } as unknown as UsageEvent, 0);
      await turn();
      const body = sqs.calls[0]?.entries[0]?.MessageBody ?? '';
      expect(body).toMatch(/^[\x20-\x7e]+$/);
      expect(JSON.parse(body)).toMatchObject({ tag, model: tag });
    },
  );

  it('rejects what a failed call carried, and goes on', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const failed = send(event(1), 0);
    await turn();
    sqs.calls.splice(0)[0]?.refuse(new Error('connection refused'));
    await expect(failed).rejects.toThrow('connection refused');
    const next = send(event(2), 0);
    await turn();
    sqs.calls[0]?.respond({});
    await next;
  });

  it('refuses at once when too many wait', async () => {
    const send = usageQueue(manualSqs().call, 'url', 1000);
    const kinds = ['open', 'close'];
    for (let index = 0; index < 20_000; index++)
      send({ ...event(index), kind: kinds[index % 2] } as UsageEvent, 0).catch(() => {});
    await expect(send(event(1), 0)).rejects.toThrow('Too many');
  });
});

it('writes an event to the outbox under a shard of its request id', async () => {
  const calls: unknown[][] = [];
  const write = writeToOutbox(
    async (...call) => {
      calls.push(call);
      return {};
    },
    'table',
    1000,
  );
  await write({ kind: 'close', requestId: '0199-00ff' } as UsageEvent);
  expect(calls).toEqual([
    [
      'PutItem',
      {
        TableName: 'table',
        Item: {
          pk: { S: 'PARKED#7' },
          sk: { S: '0199-00ff#close' },
          event: { S: '{"kind":"close","requestId":"0199-00ff"}' },
          parkedAt: { S: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
        },
      },
      1000,
    ],
  ]);
});

it('sends any text to the local queue', async () => {
  const { endpoint, queue, bodies, stop } = await emulatedQueue();
  try {
    const service = awsService('sqs', { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL_SQS: endpoint });
    const call = awsCaller(service, () => ({ accessKeyId: 'local', secretAccessKey: 'local' }), undiciTransport);
    const send = usageQueue(call, queue, 5_000);
    const tags = ['🦄', '日本語', '\u2028', '\ud83d', '\uffff'];
    await Promise.all(tags.map((tag) => send({ ...event(1), tag } as unknown as UsageEvent, 0)));
    const arrived = (await bodies(queue)).map((body) => JSON.parse(body).tag);
    expect(arrived.sort()).toEqual(tags.sort());
  } finally {
    await stop();
  }
});
