import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { providerByLabel } from '../../../lambda/domain/providers.ts';
import type { Admitted } from '../../../lambda/gateway/admission/admit.ts';
import { bodyMemory, prepareRequest } from '../../../lambda/gateway/relay/prepare-request.ts';
import { RequestCopy } from '../../../lambda/gateway/relay/request-copy.ts';
import { bodySize } from '../../../lambda/gateway/relay/request-size.ts';
import { askForUsage } from '../../../lambda/gateway/relay/usage-option.ts';

const PATH = '/v1/chat/completions';
const MB = 2 ** 20;
/** Of the dearest shape: each member is a value that is kept. */
const repeated = (bytes: number): Buffer =>
  Buffer.from(`{${Array.from({ length: Math.floor(bytes / 14) }, () => '"stream":true').join(',')}}`);

const copyOf = (): RequestCopy =>
  new RequestCopy(
    { method: 'POST', host: 'x', target: PATH, headers: ['Content-Type', 'application/json'], body: null },
    PATH,
  );

/** Counts turns of the event loop while work goes on. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isDone = true;
  return turns;
};

describe('a large body', () => {
  const body = repeated(MB);

  it('is looked at for the option in slices, with the event loop free in between', async () => {
    const asked = Promise.resolve(askForUsage(body));
    expect(await turnsDuring(asked)).toBeGreaterThan(12);
    expect((await asked)?.toString('latin1')).toMatch(/,"stream_options":\{"include_usage":true\}\}$/);
  });

  it('is metered in slices', async () => {
    const copy = copyOf();
    copy.keepWhole(body);
    const facts = Promise.resolve(copy.facts());
    expect(await turnsDuring(facts)).toBeGreaterThan(12);
    expect(await facts).toMatchObject({ stream: true });
  });

  it('is read for the most that it may cost in slices', async () => {
    const size = bodySize(Buffer.concat([body.subarray(0, -1), Buffer.from(',"max_tokens":7}')]));
    expect(await turnsDuring(Promise.resolve(size))).toBeGreaterThan(12);
    expect(await size).toMatchObject({ maxOutputTokens: 7 });
  });

  it('shares turns with others: one slice of one body each', async () => {
    const copies = Array.from({ length: 4 }, copyOf);
    for (const copy of copies) copy.keepWhole(body);
    expect(await turnsDuring(Promise.all(copies.map((copy) => copy.facts())))).toBeGreaterThan(48);
  });

  it('has the same facts in slices as in one piece', async () => {
    const text = JSON.stringify({
      model: 'gpt-4o',
      messages: Array.from({ length: 3_000 }, (_, n) => ({ role: 'user', content: `é${'x'.repeat(n % 97)}` })),
      stream: true,
    });
    const sliced = copyOf();
    sliced.keepWhole(Buffer.from(text));
    const arrived = copyOf();
    for (let at = 0; at < text.length; at += 1_000) arrived.read(Buffer.from(text.slice(at, at + 1_000)));
    arrived.finish();
    const [first, second] = [await sliced.facts(), await arrived.facts()];
    expect(first.model).toBe('gpt-4o');
    expect(first.prompt.count()).toEqual(second.prompt.count());
  });
});

describe('what an account holds in memory', () => {
  const held: { release(): void }[] = [];
  const hold = (account: string) => {
    const bytes = bodyMemory(account);
    held.push(bytes);
    return bytes;
  };
  afterEach(() => {
    for (const { release } of held.splice(0)) release();
  });

  it('is bounded for each account, and free again when released, once', () => {
    const [first, second] = [hold('a'), hold('a')];
    expect(first.add(60 * MB)).toBe(true);
    expect(second.add(5 * MB)).toBe(false);
    expect(second.add(4 * MB)).toBe(true);
    expect(hold('b').add(64 * MB)).toBe(true);
    first.release();
    first.release();
    expect(second.add(60 * MB)).toBe(true);
    expect(hold('a').add(1)).toBe(false);
  });

  const provider = providerByLabel('openai') as Admitted['provider'];
  const prepare = (
    accountId: string | null,
    body: Buffer,
    stream = Readable.from([body.subarray(0, 10), body.subarray(10)], { objectMode: false }),
  ) =>
    prepareRequest(
      {
        method: 'POST',
        host: 'x',
        target: PATH,
        headers: ['Content-Type', 'application/json', 'Content-Length', String(body.length)],
        body: stream,
      },
      { provider, serviceKey: 'svc_x', credential: 'sk', owner: accountId === null ? null : ({ accountId } as never) },
      'https://api.openai.com',
      PATH,
      PATH,
    );

  it.each([
    ['of its account', 'full'],
    ['of its key, while the account is not known', null],
  ])('forwards a body past it as it arrives, whole and unchanged, without asking for usage: %s', async (_, account) => {
    const body = Buffer.from('{"model":"gpt-4o","stream":true}');
    hold(account ?? 'svc_x').add(64 * MB);
    const prepared = await prepare(account, body);
    expect(prepared).toMatchObject({ askedForUsage: false, wholeBody: null });
    expect(Buffer.concat(await Array.fromAsync(prepared.upstream.body as Readable))).toEqual(body);
  });

  it('counts a body until the relay releases it', async () => {
    const body = repeated(MB);
    const { askedForUsage, releaseBody } = await prepare('busy', body);
    expect(askedForUsage).toBe(true);
    expect(hold('busy').add(64 * MB - body.length + 1)).toBe(false);
    releaseBody?.();
    expect(hold('busy').add(64 * MB)).toBe(true);
  });

  it('does not count a body that its client interrupted', async () => {
    const stream = new PassThrough();
    stream.write('{"model":');
    const preparing = prepare('gone', repeated(MB), stream);
    setImmediate(() => stream.destroy());
    await expect(preparing).rejects.toThrow('interrupted');
    expect(hold('gone').add(64 * MB)).toBe(true);
  });
});
