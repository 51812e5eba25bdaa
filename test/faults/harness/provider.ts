import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';

/** Where request `n` goes: its path tells it from all others, also on its record. */
export const pathOf = (n: number): string => `/n${n}/v1/chat/completions`;
export const numberOf = (path: string): number => Number(/^\/n(\d+)\//.exec(path)?.[1]);
/** Tokens that the provider reports for request `n`. */
export const tokensOf = (n: number) => ({ prompt_tokens: (n % 97) + 1, completion_tokens: (n % 13) + 1 });

export interface Provider {
  readonly origin: string;
  close(): Promise<void>;
}

const CHUNKS = 20;

/** A provider of chat completions: whole, or streamed with `chunkMs` between the pieces. */
export const startProvider = async ({ chunkMs = 5 } = {}): Promise<Provider> => {
  const server = createServer(async (request, response) => {
    const usage = { ...tokensOf(numberOf(request.url ?? '')), total_tokens: 0 };
    const body = await text(request).catch(() => '');
    const about = { id: 'chatcmpl-1', model: 'gpt-4o-mini-2024-07-18' };
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...about, choices: [{ index: 0, message: { content: 'Hello.' } }], usage }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 0; n < CHUNKS && !response.destroyed; n++) {
      response.write(
        `data: ${JSON.stringify({ ...about, choices: [{ index: 0, delta: { content: `word${n} ` } }] })}\n\n`,
      );
      await sleep(chunkMs);
    }
    response.end(`data: ${JSON.stringify({ ...about, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  });
  await listen(server);
  return {
    origin: urlOf(server),
    close: () => stopServer(server),
  };
};
