import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Provider, providerByLabel } from '../../../lambda/domain/providers.ts';
import type { Admitted } from '../../../lambda/gateway/admission/admit.ts';
import { type PreparedRequest, prepareRequest } from '../../../lambda/gateway/relay/prepare-request.ts';

const PATH = '/v1/chat/completions';
const MB = 2 ** 20;

const prepare = async (body: Readable): Promise<PreparedRequest> =>
  prepareRequest(
    {
      method: 'POST',
      host: 'openai.gateway.test',
      target: PATH,
      headers: ['Content-Type', 'application/json', 'Transfer-Encoding', 'chunked'],
      body,
    },
    { provider: providerByLabel('openai') as Provider } as Admitted,
    'https://api.openai.com',
    PATH,
    PATH,
  );

/** The body as a transport reads it. */
const forwarded = (body: Readable | Buffer | null): Promise<Buffer> => {
  const readable = body as Readable;
  readable.resume();
  return buffer(readable);
};

describe('a chunked body', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('of a stream is read whole, and gets the option and a length', async () => {
    const body = new PassThrough();
    body.write('{"stream":');
    body.end('true}');
    const prepared = await prepare(body);
    const extended = '{"stream":true,"stream_options":{"include_usage":true}}';
    expect(String(prepared.upstream.body)).toBe(extended);
    expect(prepared).toMatchObject({
      askedForUsage: true,
      wholeBody: Buffer.from('{"stream":true}'),
      upstream: { framing: 'length' },
    });
    expect(prepared.upstream.headers.join()).toContain(`Content-Length,${extended.length}`);
  });

  it('that is not extended stays chunked, byte for byte', async () => {
    const body = new PassThrough();
    body.end('{"stream":false}');
    const { upstream, askedForUsage } = await prepare(body);
    expect({ askedForUsage, framing: upstream.framing }).toEqual({ askedForUsage: false, framing: 'chunked' });
    expect(upstream.headers.join()).not.toContain('Content-Length');
    expect((await forwarded(upstream.body)).toString()).toBe('{"stream":false}');
  });

  it('of nothing is forwarded as nothing', async () => {
    const body = new PassThrough();
    body.end();
    const { upstream } = await prepare(body);
    expect(await forwarded(upstream.body)).toHaveLength(0);
  });

  it('of more than 16 MB is forwarded before it ends, byte for byte', async () => {
    const body = new PassThrough({ highWaterMark: 64 * MB });
    const preparing = prepare(body);
    const first = Buffer.alloc(17 * MB, 'a');
    for (let at = 0; at < first.length; at += MB) body.write(first.subarray(at, at + MB));
    const { upstream, wholeBody, askedForUsage } = await preparing;
    expect({ askedForUsage, wholeBody, framing: upstream.framing }).toEqual({
      askedForUsage: false,
      wholeBody: null,
      framing: 'chunked',
    });
    const received = forwarded(upstream.body);
    body.end('{"stream":true}');
    expect((await received).equals(Buffer.concat([first, Buffer.from('{"stream":true}')]))).toBe(true);
  });

  it('in pieces of a byte each, of which each takes memory, is forwarded long before 16 MB', async () => {
    const body = new PassThrough({ readableHighWaterMark: MB, writableHighWaterMark: MB });
    const preparing = prepare(body);
    const pieces = 70_000;
    for (let at = 0; at < pieces; at++) body.write('a');
    body.end();
    const { upstream, wholeBody } = await preparing;
    expect(wholeBody).toBeNull();
    expect(await forwarded(upstream.body)).toHaveLength(pieces);
  });

  it('that takes longer than 10 s is forwarded as it arrives', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const body = new PassThrough();
    body.write('{"stream":');
    const preparing = prepare(body);
    let isPrepared = false;
    preparing.then(
      () => {
        isPrepared = true;
      },
      () => {},
    );
    await jest.advanceTimersByTimeAsync(9_999);
    expect(isPrepared).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    const { upstream, askedForUsage } = await preparing;
    expect(askedForUsage).toBe(false);
    const received = forwarded(upstream.body);
    body.end('true}');
    expect((await received).toString()).toBe('{"stream":true}');
  });

  it('that the client interrupts is not forwarded', async () => {
    const body = new PassThrough();
    body.write('{"stream":');
    const preparing = prepare(body);
    body.destroy();
    await expect(preparing).rejects.toThrow('the client interrupted its request');
  });

  it('that clients interrupted takes no memory that others need', async () => {
    for (let n = 0; n < 5; n++) {
      const body = new PassThrough();
      const preparing = prepare(body);
      body.write(Buffer.alloc(14 * MB));
      setImmediate(() => body.destroy());
      await expect(preparing).rejects.toThrow('interrupted');
    }
    const body = new PassThrough();
    body.end('{"stream":true}');
    expect(await prepare(body)).toMatchObject({ askedForUsage: true });
  });
});
