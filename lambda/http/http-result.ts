import { Readable } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** What a handler answers: API Gateway's result, with a stream for a body where the integration streams. */
export type HttpResult = Omit<APIGatewayProxyResult, 'body'> & { body: string | Readable };

async function* chained(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * A result whose body is sent piece by piece. The first piece is awaited: what fails until then still is an answer of its own;
 * what fails later breaks the answer off.
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
    body: Readable.from(chained(first, iterator)),
  };
};
