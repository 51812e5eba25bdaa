import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { connectionTo, type Target, targetOf, type WebhookAccess } from './webhook.ts';

/** A file could not be read. The message is short and contains nothing of the response. */
class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

export interface FileLimits {
  /** Time-out of the whole call. */
  readonly timeoutMs: number;
  /** Also after decompression. */
  readonly maxBytes: number;
}

/** A feed on this machine, for tests and the local stack: the stage's settings accept https alone. */
const localTarget = (text: string): Target | null => {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' && url.hostname === '127.0.0.1' ? { url, address: url.hostname } : null;
};

/**
 * The bytes of a file at a public https address, which an operator configured. Connects to exactly the address that was checked, and
 * follows no redirects.
 *
 * @throws UnreadableFileError
 */
export const readPublicFile = async (
  text: string,
  { timeoutMs, maxBytes }: FileLimits,
  access?: WebhookAccess,
): Promise<Buffer> => {
  let target: Target;
  try {
    target = localTarget(text) ?? (await targetOf(text, access));
  } catch (error) {
    throw new UnreadableFileError(`its address ${(error as Error).message}`);
  }
  const options: RequestOptions = {
    ...access?.options,
    ...connectionTo(target, timeoutMs),
    method: 'GET',
    headers: {
      Host: target.url.host,
      Accept: 'application/json',
      'Accept-Encoding': 'gzip',
      'User-Agent': 'ai-spend-gateway',
    },
  };
  return new Promise<Buffer>((resolve, reject) => {
    const call = (target.url.protocol === 'https:' ? httpsRequest : httpRequest)(options, (response) => {
      const fail = (message: string) => {
        reject(new UnreadableFileError(message));
        response.destroy();
      };
      if (response.statusCode !== 200) return fail(`it responded with ${response.statusCode}`);
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) return fail(`it has more than ${maxBytes} bytes`);
        chunks.push(chunk);
      });
      response.on('error', () => fail('it was interrupted'));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        if (response.headers['content-encoding'] !== 'gzip') return resolve(bytes);
        try {
          resolve(gunzipSync(bytes, { maxOutputLength: maxBytes }));
        } catch {
          fail(`it cannot be decompressed to ${maxBytes} bytes`);
        }
      });
    });
    call.on('error', ({ name, code = 'error' }: NodeJS.ErrnoException) => {
      const isLate = name === 'TimeoutError' || name === 'AbortError';
      reject(new UnreadableFileError(isLate ? 'it did not respond in time' : `it cannot be reached (${code})`));
    });
    // Without a listener an unrequested 101 closes the connection without an error.
    call.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new UnreadableFileError('it responded with 101'));
    });
    call.end();
  });
};
