import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LambdaFunction } from '../../../local/host/lambda/functions.ts';
import { createInvoker, type Invoker } from '../../../local/host/lambda/invoker.ts';

/** A handler that does what its event says. */
const HANDLER = `
let invocations = 0;
let busy = 0;
export const handler = async (event, context) => {
  invocations += 1;
  busy += 1;
  try {
    if (event.print) console.log(event.print);
    if (event.throw) throw new TypeError(event.throw);
    if (event.exit) process.exit(3);
    if (event.waitMs) await new Promise((resolve) => setTimeout(resolve, event.waitMs));
    return {
      invocations, busy,
      table: process.env.TABLE_NAME, path: process.env.PATH,
      remainingMs: context.getRemainingTimeInMillis(), name: context.functionName, requestId: context.awsRequestId,
      left: undefined,
    };
  } finally {
    busy -= 1;
  }
};
`;

const folder = tmpdir();
let invoker: Invoker;
let lambda: LambdaFunction;

beforeEach(async () => {
  await writeFile(join(folder, 'index.mjs'), HANDLER);
  lambda = {
    name: 'usage-Recorder',
    arn: 'arn:aws:lambda:eu-central-1:000000000000:function:usage-Recorder',
    label: 'Recorder',
    file: join(folder, 'index.mjs'),
    exportName: 'handler',
    timeoutMs: 60_000,
    memoryMb: 128,
    environment: { TABLE_NAME: 'data-Table' },
  };
  invoker = createInvoker({ endpoints: {}, logFolder: folder });
  jest.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(async () => {
  await invoker.stop();
  jest.restoreAllMocks();
});

describe('a function', () => {
  it('has its own environment, a context, and keeps its state between invocations', async () => {
    const first = await invoker.invoke(lambda, {});
    const second = await invoker.invoke(lambda, {});
    expect(first).toMatchObject({ invocations: 1, table: 'data-Table', name: 'usage-Recorder' });
    expect(first).not.toHaveProperty('path');
    expect(first).not.toHaveProperty('left');
    expect(second).toMatchObject({ invocations: 2 });
    const { remainingMs } = first as { remainingMs: number };
    expect(remainingMs).toBeGreaterThan(0);
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    expect((first as { requestId: string }).requestId).not.toBe((second as { requestId: string }).requestId);
  });

  it('takes one invocation at a time per environment, and a few environments at most', async () => {
    const responses = await Promise.all(Array.from({ length: 9 }, () => invoker.invoke(lambda, { waitMs: 50 })));
    expect(responses.every((response) => (response as { busy: number }).busy === 1)).toBe(true);
    const firsts = responses.filter((response) => (response as { invocations: number }).invocations === 1);
    expect(firsts).toHaveLength(4);
  });

  it('fails with what the handler threw, in one line on the console and whole in the log', async () => {
    await expect(invoker.invoke(lambda, { throw: 'no such thing' })).rejects.toMatchObject({
      errorType: 'TypeError',
      message: 'no such thing',
    });
    expect(console.error).toHaveBeenCalledTimes(1);
    expect(console.error).toHaveBeenCalledWith(expect.stringContaining('Recorder: TypeError: no such thing'));
    expect(await invoker.invoke(lambda, {})).toMatchObject({ invocations: 2 });
    await invoker.stop();
    expect(await readFile(join(folder, 'Recorder.log'), 'utf8')).toMatch(/TypeError: no such thing\n {4}at/);
  });

  it('is ended when it runs out of time, and starts afresh', async () => {
    const hasty = { ...lambda, timeoutMs: 100 };
    await expect(invoker.invoke(hasty, { waitMs: 600_000 })).rejects.toThrow('Task timed out after 0.1 seconds');
    expect(await invoker.invoke(lambda, {})).toMatchObject({ invocations: 1 });
  });

  it('starts afresh after it has ended itself', async () => {
    // More often than it may run at once.
    for (let ended = 0; ended < 5; ended++)
      await expect(invoker.invoke(lambda, { exit: true })).rejects.toMatchObject({ errorType: 'Runtime.ExitError' });
    expect(await invoker.invoke(lambda, {})).toMatchObject({ invocations: 1 });
  });

  it('fails each invocation when its module cannot be loaded', async () => {
    await writeFile(lambda.file, 'throw new Error("no TABLE_NAME");');
    await expect(invoker.invoke(lambda, {})).rejects.toThrow('no TABLE_NAME');
    await expect(invoker.invoke(lambda, {})).rejects.toThrow('no TABLE_NAME');
  });

  it('shows on the console what it logs as an error, and nothing else', async () => {
    await invoker.invoke(lambda, { print: JSON.stringify({ level: 'INFO', message: 'all is well' }) });
    await invoker.invoke(lambda, {
      print: JSON.stringify({ level: 'ERROR', message: 'cannot write', error: { message: 'disk full' } }),
    });
    await invoker.stop();
    expect(console.error).toHaveBeenCalledTimes(1);
    expect(console.error).toHaveBeenCalledWith(expect.stringContaining('Recorder: cannot write: disk full'));
    expect(await readFile(join(folder, 'Recorder.log'), 'utf8')).toContain('all is well');
  });
});
