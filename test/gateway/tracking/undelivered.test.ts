import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CloseEvent, UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { untrackedEventSchema } from '../../../lambda/domain/usage/usage-event.ts';
import { undeliveredEvents } from '../../../lambda/gateway/tracking/undelivered.ts';

const close = (n: number, facts: Partial<CloseEvent> = {}): CloseEvent =>
  ({
    kind: 'close',
    requestId: `request-${n}`,
    accountId: 'svc_one',
    startedAt: `2026-11-20T12:00:${String(n % 60).padStart(2, '0')}.000Z`,
    ...facts,
  }) as CloseEvent;

/** A way out that can be down. */
const way = () => {
  const sent: UsageEvent[] = [];
  const state = { down: true, refuses: (_event: UsageEvent): boolean => false };
  const send = async (event: UsageEvent): Promise<void> => {
    if (state.down || state.refuses(event)) throw new Error('down');
    sent.push(event);
  };
  return { sent, state, send };
};

const lines: string[] = [];
beforeEach(() => {
  jest.useFakeTimers();
  lines.length = 0;
  jest.spyOn(console, 'warn').mockImplementation((line) => void lines.push(line));
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const roomy = { maxBytes: 2 ** 20, retryMs: 1_000 };

describe('events that cannot be delivered', () => {
  it('are kept, and delivered once each when something does, by itself', async () => {
    const { sent, state, send } = way();
    const kept = undeliveredEvents(send, roomy);
    for (let n = 0; n < 50; n++) kept.keep(close(n));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(sent).toEqual([]);
    state.down = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(sent.map(({ requestId }) => requestId).sort()).toEqual(
      Array.from({ length: 50 }, (_, n) => `request-${n}`).sort(),
    );
    expect(kept.waiting).toBe(false);
    expect(lines).toEqual([expect.stringContaining('"events":50')]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(50);
  });

  it('do not wait behind one that is always refused', async () => {
    const { sent, state, send } = way();
    state.down = false;
    state.refuses = ({ requestId }) => requestId === 'request-0';
    const kept = undeliveredEvents(send, roomy);
    for (let n = 0; n < 50; n++) kept.keep(close(n));
    await kept.deliver();
    expect(sent).toHaveLength(49);
    expect(kept.waiting).toBe(true);
  });

  it('are counted when there is no room, and reported by account and hour after those that were kept', async () => {
    const { sent, state, send } = way();
    const kept = undeliveredEvents(send, { maxBytes: 2 * JSON.stringify(close(0)).length, retryMs: 1_000 });
    // Those that began last may end first.
    for (const n of [0, 1, 5, 9, 2, 8, 3, 7, 4, 6]) kept.keep(close(n));
    kept.keep(close(11, { startedAt: '2026-11-20T13:00:00.000Z' }));
    kept.keep(close(12, { accountId: null, unverifiedKeyHash: 'hash-of-key' }));
    state.down = false;
    await kept.deliver();
    expect(sent.slice(0, 2).map(({ requestId }) => requestId)).toEqual(['request-0', 'request-1']);
    const reports = sent.slice(2).map((event) => untrackedEventSchema.parse(event));
    expect(reports).toMatchObject([
      { accountId: 'svc_one', from: '2026-11-20T12:00:02.000Z', to: '2026-11-20T12:00:09.000Z', requests: 8 },
      { accountId: 'svc_one', from: '2026-11-20T13:00:00.000Z', requests: 1 },
      { accountId: null, unverifiedKeyHash: 'hash-of-key', requests: 1 },
    ]);
    expect(kept.waiting).toBe(false);
  });

  it('are counted for accounts that have a count, but for no more than 10,000', async () => {
    const { sent, state, send } = way();
    const kept = undeliveredEvents(send, { maxBytes: 0, retryMs: 1_000 });
    for (let n = 0; n <= 10_000; n++) kept.keep(close(n, { accountId: `svc_${n}` }));
    kept.keep(close(1, { accountId: 'svc_1' }));
    state.down = false;
    await kept.deliver();
    const reports = sent.map((event) => untrackedEventSchema.parse(event));
    expect(reports).toHaveLength(10_000);
    expect(reports.slice(0, 3).map(({ requests }) => requests)).toEqual([1, 2, 1]);
  });

  it('are reported under the same id when a report has to be sent again', async () => {
    const { sent, state, send } = way();
    const tried: string[] = [];
    const kept = undeliveredEvents(
      async (event) => {
        tried.push(event.requestId);
        await send(event);
      },
      { maxBytes: 0, retryMs: 1_000 },
    );
    kept.keep(close(1));
    await kept.deliver();
    kept.keep(close(2));
    state.down = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(sent).toMatchObject([{ requests: 1 }, { requests: 1 }]);
    expect(tried[0]).toBe(tried[1]);
    expect(sent[0]?.requestId).toBe(tried[0]);
    expect(sent[1]?.requestId).not.toBe(tried[0]);
  });

  it('have 16 MB and a second by default', async () => {
    const { sent, state, send } = way();
    const kept = undeliveredEvents(send);
    const size = (path: string) => JSON.stringify(close(0, { path })).length;
    const fill = 'x'.repeat(16 * 2 ** 20 - size(''));
    kept.keep(close(0, { path: fill }));
    kept.keep(close(1));
    state.down = false;
    await jest.advanceTimersByTimeAsync(999);
    expect(sent).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(sent.map(({ kind }) => kind)).toEqual(['close', 'untracked']);
  });

  it('keep the log quiet while none gets through', async () => {
    const { send } = way();
    const kept = undeliveredEvents(send, roomy);
    kept.keep(close(0));
    await kept.deliver();
    expect(lines).toEqual([]);
    expect(kept.waiting).toBe(true);
  });

  it('are sent once, however often delivery is asked for', async () => {
    const { sent, state, send } = way();
    state.down = false;
    const kept = undeliveredEvents(send, roomy);
    kept.keep(close(0));
    await Promise.all([kept.deliver(), kept.deliver()]);
    await kept.deliver();
    expect(sent).toHaveLength(1);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: 'WARN', message: 'kept usage events delivered', events: 1 },
    ]);
  });

  it('make room again once delivered', async () => {
    const { sent, state, send } = way();
    const kept = undeliveredEvents(send, { maxBytes: JSON.stringify(close(0)).length, retryMs: 1_000 });
    state.down = false;
    for (let n = 0; n < 3; n++) {
      kept.keep(close(n));
      await kept.deliver();
    }
    expect(sent.map(({ kind }) => kind)).toEqual(['close', 'close', 'close']);
  });
});
