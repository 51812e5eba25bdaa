import { describe, expect, it } from '@jest/globals';
import type { ClientResponse } from '../../../lambda/gateway/protocol/client.ts';
import type { CloseEventBuilder } from '../../../lambda/gateway/relay/close-event-builder.ts';
import { ResponsePipe } from '../../../lambda/gateway/relay/response-pipe.ts';
import { UsageChunkFilter } from '../../../lambda/gateway/relay/usage-chunk-filter.ts';
import type { UpstreamExchange } from '../../../lambda/gateway/upstream/upstream.ts';

const HOLD_LIMIT_BYTES = 64 * 1024;

/** A pipe whose ends record every call, in order. */
const recordedPipe = ({ clientIsSlow = false, writeFails = false } = {}) => {
  const calls: string[] = [];
  let drain = (): void => {};
  const pipe = new ResponsePipe({
    exchange: {
      pause: () => calls.push('pause'),
      resume: () => calls.push('resume'),
    } as unknown as UpstreamExchange,
    client: {
      write: (chunk: Buffer) => {
        if (writeFails) throw new Error('write failed');
        calls.push(`write ${chunk}`);
        return !clientIsSlow;
      },
      onDrain: (listener: () => void) => {
        drain = listener;
      },
    } as ClientResponse,
    closeEventBuilder: {
      recordChunk: () => {},
      keepForMeter: (chunk: Buffer) => calls.push(`keep ${chunk}`),
      feedMeter: () => calls.push('meter'),
    } as unknown as CloseEventBuilder,
    onFault: (error) => calls.push(String(error)),
  });
  return { pipe, calls, drain: () => drain() };
};

/** Two ticks: one in which the pipe writes, one in which the meter reads. */
const ticks = async (): Promise<void> => {
  for (let n = 0; n < 2; n++) await new Promise((resolve) => process.nextTick(resolve));
};

describe('before the client has the headers', () => {
  it('the provider is paused above 64 KB and not before', () => {
    const { pipe, calls } = recordedPipe();
    pipe.take(Buffer.alloc(HOLD_LIMIT_BYTES - 1));
    pipe.take(Buffer.alloc(1));
    expect(calls).toEqual([]);
    pipe.take(Buffer.alloc(1));
    expect(calls).toEqual(['pause']);
  });

  it('nothing is written, and everything follows the headers in one piece', async () => {
    const { pipe, calls } = recordedPipe();
    pipe.take(Buffer.from('a'));
    pipe.take(Buffer.from('b'));
    await ticks();
    expect(calls).toEqual([]);
    pipe.open(undefined, false);
    expect(calls).toEqual(['write ab', 'keep ab', 'resume']);
    await ticks();
    expect(calls.slice(3)).toEqual(['meter']);
  });

  it('the bytes of a response that has already ended come from takeRest()', () => {
    const { pipe, calls } = recordedPipe();
    pipe.take(Buffer.from('all'));
    pipe.open(undefined, true);
    expect(calls).toEqual([]);
    expect(pipe.takeRest()?.toString()).toBe('all');
    expect(pipe.takeRest()).toBeUndefined();
  });
});

describe('once the client has the headers', () => {
  it('chunks of one tick are written together, then metered', async () => {
    const { pipe, calls } = recordedPipe();
    pipe.open(undefined, false);
    calls.length = 0;
    pipe.take(Buffer.from('a'));
    pipe.take(Buffer.from('b'));
    expect(calls).toEqual([]);
    await ticks();
    expect(calls).toEqual(['write ab', 'keep ab', 'meter']);
  });

  it('64 KB is no limit: only a slow client pauses the provider', async () => {
    const { pipe, calls } = recordedPipe();
    pipe.open(undefined, false);
    pipe.take(Buffer.alloc(HOLD_LIMIT_BYTES + 1));
    await ticks();
    expect(calls).not.toContain('pause');
  });

  it('the provider is paused while the client is slow, and resumed when it has caught up', async () => {
    const { pipe, calls, drain } = recordedPipe({ clientIsSlow: true });
    pipe.take(Buffer.from('a'));
    pipe.open(undefined, false);
    expect(pipe.isPaused).toBe(true);
    expect(calls).toEqual(['write a', 'pause', 'keep a']);
    drain();
    expect(pipe.isPaused).toBe(false);
    expect(calls.at(-1)).toBe('resume');
  });

  it('a filter decides what the client gets; the meter reads all of it', async () => {
    const { pipe, calls } = recordedPipe();
    pipe.open(new UsageChunkFilter(), false);
    pipe.take(Buffer.from('data: {"choices":[],"usage":{}}\n\n'));
    await ticks();
    expect(calls.filter((call) => call.startsWith('write'))).toEqual([]);
    expect(calls).toContain('keep data: {"choices":[],"usage":{}}\n\n');
    pipe.take(Buffer.from('data: cut'));
    expect(pipe.takeRest()?.toString()).toBe('data: cut');
    expect(pipe.takeRest()?.toString()).toBe('');
  });

  it('a fault in a later tick is reported, not thrown', async () => {
    const { pipe, calls } = recordedPipe({ writeFails: true });
    pipe.open(undefined, false);
    pipe.take(Buffer.from('a'));
    await ticks();
    expect(calls).toContain('Error: write failed');
  });
});

it('discardRest() meters what the client did not wait for', () => {
  const { pipe, calls } = recordedPipe();
  pipe.take(Buffer.from('a'));
  pipe.discardRest();
  pipe.discardRest();
  expect(calls).toEqual(['keep a']);
});
