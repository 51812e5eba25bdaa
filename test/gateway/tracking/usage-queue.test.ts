import { describe, expect, it } from '@jest/globals';
import type { UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { usageQueue, writeToOutbox } from '../../../lambda/gateway/tracking/usage-queue.ts';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds: number;
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

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the usage queue', () => {
  it('sends a lone event at once', async () => {
    const sqs = manualSqs();
    const sent = usageQueue(sqs.call, 'url', 1000)(event(1), 900);
    await turn();
    expect(sqs.calls.map((call) => call.entries.map((entry) => entry.DelaySeconds))).toEqual([[900]]);
    sqs.calls[0]?.respond({});
    await sent;
  });

  it('batches the events of one turn, and those that collect while batches are in flight', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    const sent = Array.from({ length: 34 }, (_, index) => send(event(index), 0));
    await turn();
    expect(sqs.calls.map((call) => call.entries.length)).toEqual([10, 10, 10]);
    sent.push(...Array.from({ length: 5 }, (_, index) => send(event(50 + index), 0)));
    await turn();
    expect(sqs.calls).toHaveLength(3);
    for (const call of sqs.calls.splice(0)) call.respond({ Successful: [] });
    await turn();
    expect(sqs.calls.map((call) => call.entries.length)).toEqual([9]);
    sqs.calls[0]?.respond({});
    await Promise.all(sent);
  });

  it('has at most 64 batches in flight', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    for (let index = 0; index < 2_000; index++) send(event(index), 0).catch(() => {});
    await turn();
    expect(sqs.calls).toHaveLength(64);
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

  it('escapes what SQS does not take', async () => {
    const sqs = manualSqs();
    const send = usageQueue(sqs.call, 'url', 1000);
    void send({ ...event(1), tag: 'a\uffff\ufffeb' } as UsageEvent, 0);
    await new Promise(setImmediate);
    const body = sqs.calls[0]?.entries[0]?.MessageBody ?? '';
    expect(body).toContain('a\\uffff\\ufffeb');
    expect(JSON.parse(body).tag).toBe('a\uffff\ufffeb');
  });

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
    for (let index = 0; index < 20_000; index++) send(event(index), 0).catch(() => {});
    await expect(send(event(1), 0)).rejects.toThrow('Too many');
  });
});

it('writes an event to the outbox under a shard of its request id', async () => {
  const inputs: Record<string, unknown>[] = [];
  const park = writeToOutbox(
    async (_operation, input) => {
      inputs.push(input as Record<string, unknown>);
      return {};
    },
    'table',
    1000,
  );
  await park({ kind: 'close', requestId: '0199-00ff' } as UsageEvent);
  expect(inputs[0]).toMatchObject({
    TableName: 'table',
    Item: {
      pk: { S: 'PARKED#7' },
      sk: { S: '0199-00ff#close' },
      event: { S: '{"kind":"close","requestId":"0199-00ff"}' },
    },
  });
});
