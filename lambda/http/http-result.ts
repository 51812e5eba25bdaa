import { Readable } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** A handler's response: API Gateway's proxy result, whose body is a stream if the integration streams. */
export type HttpResult = Omit<APIGatewayProxyResult, 'body'> & { body: string | Readable };

async function* chain(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

/**
 * A result whose body is streamed. It waits for the first piece: an error before that becomes an error response, a later error
 * interrupts the response.
 */
export const streamedResult = async (
  statusCode: number,
  { contentType, filename }: { readonly contentType: string; readonly filename: string },
  pieces: AsyncIterable<string>,
): Promise<HttpResult> => {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    statusCode,
    headers: { 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${filename}"` },
    body: Readable.from(chain(first, iterator)),
  };
};
