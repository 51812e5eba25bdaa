import { PassThrough, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Mimics the streaming runtime: a prelude, then bytes. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html */
const preludes = new WeakMap<Writable, Omit<APIGatewayProxyResult, 'body'>>();
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from: (stream: Writable, prelude: Omit<APIGatewayProxyResult, 'body'>) => {
        preludes.set(stream, prelude);
        return stream;
      },
    },
  },
});

/** A handler that streams as one whose whole response is waited for. Import this before the handler is made. */
export const collected = (handler: unknown) => async (event: APIGatewayProxyEvent, context: Context) => {
  const stream = new PassThrough();
  const body = text(stream);
  const run = handler as (event: unknown, stream: Writable, context: unknown) => Promise<void>;
  await run(event, stream, context).catch((error) => stream.destroy(error));
  const whole = await body;
  return { ...(preludes.get(stream) as Omit<APIGatewayProxyResult, 'body'>), body: whole };
};
