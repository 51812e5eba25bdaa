import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { TakeChunk } from '../lambda/environment.ts';
import { METADATA_END } from '../lambda/response-stream.ts';

const metadataSchema = z.object({
  statusCode: z.coerce.number().int().min(100).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  multiValueHeaders: z.record(z.string(), z.array(z.string())).default({}),
});

/**
 * Forwards the streamed response of a function as it arrives: metadata as JSON, eight NUL bytes, then the body.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
export const streamedResult = (requestId: string, response: ServerResponse): TakeChunk => {
  let head: Buffer | undefined = Buffer.alloc(0);

  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0 || response.destroyed || response.write(bytes)) return;
    // A client that disconnected never drains it.
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };

  return async (bytes) => {
    if (!head) return write(bytes);
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf(METADATA_END);
    if (end === -1) return undefined;
    const { statusCode, headers, multiValueHeaders } = metadataSchema.parse(JSON.parse(head.toString('utf8', 0, end)));
    const body = head.subarray(end + METADATA_END.length);
    head = undefined;
    response.writeHead(statusCode, { 'x-amzn-RequestId': requestId, ...headers, ...multiValueHeaders });
    response.flushHeaders();
    return write(body);
  };
};
