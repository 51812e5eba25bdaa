import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CloseEvent, OpenEvent, UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { createTracker } from '../../../lambda/gateway/tracking/tracker.ts';

const open = { kind: 'open', requestId: 'r' } as OpenEvent;
const close = { kind: 'close', requestId: 'r' } as CloseEvent;
const settings = { openEventDelaySeconds: 900, retryDelaysMs: [1, 1] };
/** Tries of a close event before it is kept: three at the queue, two at the table. */
const TRIES = 5;

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  jest.spyOn(console, 'error').mockImplementation((line) => void logged.push(line));
  jest.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  jest.restoreAllMocks();
});

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
  it('go to the table when the queue stays down', async () => {
    const queue = failTimes(9);
    const table = failTimes(1);
    await createTracker(queue.send, table.send, settings).close(close);
    expect(table.calls.map(([event]) => event)).toEqual([close, close]);
  });

  it('are logged by default so that a replay command can read them, with the reason', async () => {
    const down = failTimes(TRIES);
    const tracker = createTracker(down.send, down.send, settings);
    await tracker.close(close);
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      { level: 'ERROR', message: 'usage event not delivered', reason: 'Error: down', usageEvent: close },
    ]);
    await tracker.drain();
    expect(down.calls.at(-1)).toEqual([close, 0]);
  });

  it('go to the queue without a delay, each try after its pause', async () => {
    jest.useFakeTimers();
    const queue = failTimes(2);
    const done = createTracker(queue.send, queue.send, { ...settings, retryDelaysMs: [100, 200] }).close(close);
    const triesAfter = async (ms: number) => {
      await jest.advanceTimersByTimeAsync(ms);
      return queue.calls.length;
    };
    expect([await triesAfter(99), await triesAfter(1), await triesAfter(199), await triesAfter(1)]).toEqual([
      1, 2, 2, 3,
    ]);
    await done;
    jest.useRealTimers();
    expect(queue.calls).toEqual([
      [close, 0],
      [close, 0],
      [close, 0],
    ]);
  });

  it('that the table takes make way for those in memory', async () => {
    const queue = failTimes(99);
    const table = failTimes(2);
    const tracker = createTracker(queue.send, table.send, { ...settings, retryDelaysMs: [] }, () => {});
    await tracker.close({ ...close, requestId: 'kept' });
    await tracker.close({ ...close, requestId: 'next' });
    expect(table.calls.map(([{ requestId }]) => requestId)).toEqual(['kept', 'kept', 'next', 'kept']);
  });

  it('drain waits for open events, too', async () => {
    const sent = Promise.withResolvers<void>();
    const tracker = createTracker(
      () => sent.promise,
      () => sent.promise,
      settings,
    );
    const opened = tracker.open(open);
    let isDrained = false;
    const drained = tracker.drain().then(() => {
      isDrained = true;
    });
    await new Promise(setImmediate);
    expect(isDrained).toBe(false);
    sent.resolve();
    await drained;
    expect(await opened).toBe(true);
  });

  it('drain waits for all of them', async () => {
    const queue = failTimes(2);
    const tracker = createTracker(queue.send, queue.send, settings);
    void tracker.close(close);
    await tracker.drain();
    expect(queue.calls).toHaveLength(3);
  });
});

describe('close events that cannot be delivered', () => {
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
});
