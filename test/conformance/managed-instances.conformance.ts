import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { ReceivedResponse } from '../../fixtures/exchange.ts';
import type { Script } from '../../fixtures/scripted-origin.ts';
import { describeGateway, type Started } from './gateway-suite.ts';

/** Many requests in one thread, which is what a fault of one could spoil for others. */
const THREADS = 2;
const IN_FLIGHT = 64;

const pathOf = (n: number): string => `/v1/chat/completions/${n}`;
const chunksOf = (n: number): string[] => [
  `data: {"model":"gpt-4o","choices":[{"delta":{"content":"part one of ${n}"}}]}\n\n`,
  `data: {"model":"gpt-4o","choices":[{"delta":{"content":"part two of ${n}"}}]}\n\n`,
  `data: {"model":"gpt-4o","choices":[],"usage":{"prompt_tokens":${n + 1},"completion_tokens":1,"total_tokens":${n + 2}}}\n\ndata: [DONE]\n\n`,
];

/** Streams that all have begun at the client before the first may end. */
const heldStreams = ({ origin, through }: Started) => {
  const exchanges = new Map<string, ServerResponse>();
  const aborted = new Set<string>();
  const script: Script = (request, response) => {
    const path = request.url ?? '';
    const [first = ''] = chunksOf(Number(path.split('/').at(-1)));
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(first);
    response.once('close', () => response.writableFinished || aborted.add(path));
    exchanges.set(path, response);
  };
  origin().script = script;
  const requests = Array.from({ length: IN_FLIGHT }, (_, n) => {
    let begun = (): void => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const response = through({ path: pathOf(n), onChunk: () => begun() });
    return { n, hasBegun, response };
  });
  return {
    allHaveBegun: () => Promise.all(requests.map(({ hasBegun }) => hasBegun)),
    finish: (n: number) => exchanges.get(pathOf(n))?.end(chunksOf(n).slice(1).join('')),
    interrupt: (n: number) => exchanges.get(pathOf(n))?.destroy(),
    responses: () => Promise.all(requests.map(({ response }) => response)),
    aborted,
  };
};

const expectOwnBytes = (response: ReceivedResponse, n: number): void => {
  expect(response).toMatchObject({ status: 200, whole: true });
  expect(response.body.toString()).toBe(chunksOf(n).join(''));
};

const idOf = ({ headers }: ReceivedResponse): string => String(headers['x-service-request-id']);

describeGateway({ maxConcurrency: IN_FLIGHT, threads: THREADS }, (started) => {
  describe(`${IN_FLIGHT} requests in flight`, () => {
    it('stream at once, each with its own bytes, whichever ends first', async () => {
      const streams = heldStreams(started);
      await streams.allHaveBegun();
      for (let n = IN_FLIGHT - 1; n >= 0; n--) streams.finish(n);
      for (const [n, response] of (await streams.responses()).entries()) expectOwnBytes(response, n);
    });

    it('have one record each, with their own usage', async () => {
      const streams = heldStreams(started);
      await streams.allHaveBegun();
      for (let n = 0; n < IN_FLIGHT; n++) streams.finish(n);
      const responses = await streams.responses();
      expect(new Set(responses.map(idOf)).size).toBe(IN_FLIGHT);
      for (const [n, response] of responses.entries()) {
        const events = await started.lambda().eventsOf(idOf(response));
        expect(events.map(({ kind }) => kind).sort()).toEqual(['close', 'open']);
        expect(events.find(({ kind }) => kind === 'close')).toMatchObject({
          outcome: 'completed',
          route: response.headers['x-service-route'],
          reading: { usage: { prompt_tokens: n + 1 } },
        });
      }
    });

    it('stay whole when the provider interrupts one of them', async () => {
      const streams = heldStreams(started);
      await streams.allHaveBegun();
      streams.interrupt(0);
      for (let n = 1; n < IN_FLIGHT; n++) streams.finish(n);
      const [interrupted, ...others] = await streams.responses();
      expect(interrupted).toMatchObject({ status: 200, whole: false });
      for (const [n, response] of others.entries()) expectOwnBytes(response, n + 1);
    });

    it.each(['timeout', 'reset'] as const)(
      'stay whole when the platform ends one response (%s), whose provider is asked for no more',
      async (how) => {
        const streams = heldStreams(started);
        await streams.allHaveBegun();
        started.lambda().endResponse(pathOf(0), how);
        for (let n = 1; n < IN_FLIGHT; n++) streams.finish(n);
        const [ended, ...others] = await streams.responses();
        for (const [n, response] of others.entries()) expectOwnBytes(response, n + 1);
        expect(ended?.whole).toBe(false);
        const events = await started.lambda().eventsOf(idOf(ended as ReceivedResponse));
        expect(events.find(({ kind }) => kind === 'close')).toMatchObject({ outcome: 'client_aborted' });
        expect([...streams.aborted]).toEqual([pathOf(0)]);
        expect(started.lambda().log()).not.toMatch(/Worker \d+ (error|exit)/);
      },
    );

    it('leave the next request as it is', async () => {
      started.origin().script = (_request, response) => response.end('fine');
      expect((await started.through()).body.toString()).toBe('fine');
    });
  });
});
