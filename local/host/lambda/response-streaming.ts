import { PassThrough, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * What the Lambda runtime offers functions that stream their responses. Here the response is gathered and handed on as a
 * proxy result: the caller gets the same bytes, though not before the last of them is there.
 */
export const offerResponseStreaming = (): void => {
  const preludes = new WeakMap<Writable, object>();
  const streamifyResponse =
    (handler: (event: unknown, stream: Writable, context: unknown) => Promise<void>) =>
    async (event: unknown, context: unknown) => {
      const stream = new PassThrough();
      const body = buffer(stream);
      try {
        await handler(event, stream, context);
        stream.end();
      } catch (error) {
        stream.destroy(error as Error);
      }
      return { ...preludes.get(stream), body: (await body).toString('base64'), isBase64Encoded: true };
    };
  const from = (stream: Writable, prelude: object) => {
    preludes.set(stream, prelude);
    return stream;
  };
  Object.assign(globalThis, { awslambda: { streamifyResponse, HttpResponseStream: { from } } });
};
