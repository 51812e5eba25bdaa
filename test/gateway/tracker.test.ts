import { describe, expect, it } from '@jest/globals';
import type { CloseEvent, OpenEvent, UsageEvent } from '../../lambda/domain/usage-event.ts';
import { createTracker } from '../../lambda/gateway/tracker.ts';

const open = { kind: 'open', requestId: 'r' } as OpenEvent;
const close = { kind: 'close', requestId: 'r' } as CloseEvent;
const settings = { openEventDelaySeconds: 900, retryDelaysMs: [1, 1] };

const failTimes = (times: number) => {
  const calls: [UsageEvent, number][] = [];
  const send = async (event: UsageEvent, delaySeconds = 0): Promise<void> => {
    calls.push([event, delaySeconds]);
    if (calls.length <= times) throw new Error('down');
  };
  return { calls, send };
};

describe('open events', () => {
  it('go to the queue with the delay, once', async () => {
    const queue = failTimes(0);
    expect(await createTracker(queue.send, queue.send, settings).open(open)).toBe(true);
    expect(queue.calls).toEqual([[open, 900]]);
  });

  it('are not tried again: the route must be known soon', async () => {
    const queue = failTimes(1);
    expect(await createTracker(queue.send, queue.send, settings).open(open)).toBe(false);
    expect(queue.calls).toHaveLength(1);
  });
});

describe('close events', () => {
  it('are tried again', async () => {
    const queue = failTimes(2);
    const table = failTimes(0);
    await createTracker(queue.send, table.send, settings).close(close);
    expect(queue.calls).toHaveLength(3);
    expect(table.calls).toHaveLength(0);
  });

  it('go to the table when the queue stays down', async () => {
    const queue = failTimes(9);
    const table = failTimes(1);
    await createTracker(queue.send, table.send, settings).close(close);
    expect(table.calls.map(([event]) => event)).toEqual([close, close]);
  });

  it('are logged whole when the table is down too', async () => {
    const lost: UsageEvent[] = [];
    const down = failTimes(9);
    await createTracker(down.send, down.send, settings, (event) => lost.push(event)).close(close);
    expect(lost).toEqual([close]);
  });

  it('drain waits for all of them', async () => {
    const queue = failTimes(2);
    const tracker = createTracker(queue.send, queue.send, settings);
    void tracker.close(close);
    await tracker.drain();
    expect(queue.calls).toHaveLength(3);
  });
});

describe('close events that nothing takes', () => {
  const settled = { ...settings, retryDelaysMs: [] };

  it('are delivered when the next one gets through', async () => {
    const sent: UsageEvent[] = [];
    let down = true;
    const send = async (event: UsageEvent): Promise<void> => {
      if (down) throw new Error('down');
      sent.push(event);
    };
    const tracker = createTracker(send, send, settled, () => {});
    for (const requestId of ['a', 'b']) await tracker.close({ ...close, requestId });
    down = false;
    await tracker.close({ ...close, requestId: 'c' });
    expect(sent.map(({ requestId }) => requestId)).toEqual(['c', 'a', 'b']);
    await tracker.drain();
    expect(sent).toHaveLength(3);
  });

  it('show no service key in the log', async () => {
    const lines: string[] = [];
    const { error } = console;
    console.error = (line) => void lines.push(line);
    const down = failTimes(9);
    const unverifiedKey = `svc_${'k'.repeat(30)}`;
    try {
      await createTracker(down.send, down.send, settled).close({ ...close, accountId: null, unverifiedKey });
    } finally {
      console.error = error;
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain(unverifiedKey);
    expect(lines[0]).toContain('svc_kkkk…kkkk');
  });
});
