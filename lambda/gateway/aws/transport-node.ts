import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { dropIdleConnections, recordIdleTimes } from './kept-connections.ts';
import {
  type AwsRequest,
  type AwsResponse,
  type AwsTransport,
  DeadConnectionError,
  MAX_IDLE_MS,
  MAX_RESPONSE_BYTES,
  timeoutError,
  tooLongError,
} from './transport.ts';

const isBroken = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/** Over node:http(s): part of every Lambda runtime, loads in a few milliseconds. */
export const nodeTransport = (endpoint: string): AwsTransport => {
  const { protocol, hostname, port } = new URL(endpoint);
  const secure = protocol === 'https:';
  const agent = recordIdleTimes(new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: MAX_IDLE_MS }));
  const send = secure ? httpsRequest : httpRequest;
  return ({ headers, body }: AwsRequest, timeoutMs: number) => {
    dropIdleConnections(agent, MAX_IDLE_MS);
    return new Promise<AwsResponse>((resolve, reject) => {
      const request = send({ agent, hostname, port, path: '/', method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > MAX_RESPONSE_BYTES) request.destroy(tooLongError());
        });
        response.on('error', fail);
        response.on('end', () => {
          clearTimeout(timer);
          resolve({ status: response.statusCode as number, body: Buffer.concat(chunks) });
        });
      });
      const timer = setTimeout(() => request.destroy(timeoutError(timeoutMs)), timeoutMs);
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      request.on('error', (error) => {
        if (!request.reusedSocket || !isBroken(error)) return fail(error);
        // The other idle connections are probably closed, too.
        dropIdleConnections(agent, -1);
        fail(new DeadConnectionError(error.message));
      });
      request.end(body);
    });
  };
};
