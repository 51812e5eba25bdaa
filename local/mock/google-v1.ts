import { request as httpRequest } from 'node:http';
import type { Mountable } from '@copilotkit/aimock';

/**
 * Gemini under `/v1/models`, where today's SDK looks for it: aimock has it under `/v1beta/models` alone. Mount it there.
 *
 * @param mockUrl the mock's own URL, known once it has started
 */
export const googleV1 = (mockUrl: () => string): Mountable => ({
  async handleRequest(request, response, path) {
    if (!/:(generateContent|streamGenerateContent|embedContent)$/.test(path)) return false;
    const [, query = ''] = (request.url ?? '').split(/(\?.*)/s);
    const inner = httpRequest(
      new URL(`/v1beta/models${path}${query}`, mockUrl()),
      { method: request.method, headers: request.headers },
      (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.pipe(response);
      },
    );
    inner.on('error', () => response.destroy());
    request.pipe(inner);
    return true;
  },
});
