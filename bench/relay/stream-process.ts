/** An origin of streams: `/v1/stream/{chunks}/{ms}/chat/completions`. Every event tells when it was written, in ms of the system's clock. */
import { createServer } from 'node:http';

const clockMs = (): number => performance.timeOrigin + performance.now();
const event = (at: number): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm', at, choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}\n\n`;

createServer((request, response) => {
  const [, , , chunks, everyMs] = (request.url ?? '').split('/').map(Number) as [0, 0, 0, number, number];
  request.resume();
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  let sent = 0;
  const finish = (): void => {
    response.end(
      `data: ${JSON.stringify({ model: 'm', choices: [], usage: { prompt_tokens: 5, completion_tokens: chunks, total_tokens: 5 + chunks } })}\n\ndata: [DONE]\n\n`,
    );
  };
  if (everyMs === 0) {
    const push = (): void => {
      while (sent < chunks) {
        sent++;
        if (!response.write(event(clockMs()))) {
          response.once('drain', push);
          return;
        }
      }
      finish();
    };
    push();
    return;
  }
  const timer = setInterval(() => {
    response.write(event(clockMs()));
    if (++sent < chunks) return;
    clearInterval(timer);
    finish();
  }, everyMs);
  response.on('close', () => clearInterval(timer));
}).listen({ port: Number(process.env['PORT']), host: '127.0.0.1', backlog: 4096 });
