import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';

/** The head of a response. */
interface StreamedHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>>;
}

/** Where a streamed response goes. */
export interface ResponseSink {
  head(head: StreamedHead): void;
  /** @returns false when the runtime is to wait for `drained` */
  chunk(bytes: Buffer): boolean;
  drained(): Promise<void>;
  end(): void;
  /** The function failed, or was interrupted. */
  fail(reason: string): void;
}

interface Invocation {
  readonly id: string;
  readonly event: string;
  readonly sink: ResponseSink;
  readonly done: () => void;
}

const INTEGRATION_RESPONSE = 'application/vnd.awslambda.http-integration-response';
const METADATA_END = Buffer.alloc(8);
/** API Gateway looks no further for the metadata's end. */
const MAX_METADATA_BYTES = 16_384;
const TIMEOUT_MS = 900_000;

const headSchema = z.object({
  statusCode: z.number().int().min(100).max(599),
  headers: z.record(z.string(), z.string()),
  multiValueHeaders: z.record(z.string(), z.array(z.string())),
});

/** Reads a streamed response as API Gateway does: metadata, eight NUL bytes, body; an error comes as trailers. */
const relay = async (request: IncomingMessage, sink: ResponseSink): Promise<void> => {
  if (request.headers['content-type'] !== INTEGRATION_RESPONSE) {
    await buffer(request);
    return sink.fail(
      String(
        request.trailers['lambda-runtime-function-error-type'] ?? `content type ${request.headers['content-type']}`,
      ),
    );
  }
  let metadata: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of request as AsyncIterable<Buffer>) {
    let body = piece;
    if (metadata) {
      metadata = Buffer.concat([metadata, piece]);
      const end = metadata.indexOf(METADATA_END);
      if (end === -1 && metadata.length < MAX_METADATA_BYTES) continue;
      if (end === -1 || end > MAX_METADATA_BYTES) return sink.fail('no metadata in the first 16 KB');
      sink.head(headSchema.parse(JSON.parse(metadata.toString('utf8', 0, end))));
      body = metadata.subarray(end + METADATA_END.length);
      metadata = undefined;
    }
    if (body.length > 0 && !sink.chunk(body)) await sink.drained();
  }
  const errorType = request.trailers['lambda-runtime-function-error-type'];
  if (errorType !== undefined || metadata) sink.fail(String(errorType ?? 'ended before its metadata'));
  else sink.end();
};

/**
 * The Lambda Runtime API, as far as a streaming function needs it, one invocation at a time.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export const startRuntimeApi = async () => {
  const waiting: Invocation[] = [];
  const idle: ServerResponse[] = [];
  const running = new Map<string, Invocation>();
  let initError: string | undefined;

  const match = (): void => {
    const runtime = idle[0];
    const invocation = waiting[0];
    if (!runtime || !invocation) return;
    idle.shift();
    waiting.shift();
    running.set(invocation.id, invocation);
    runtime
      .writeHead(200, {
        'Content-Type': 'application/json',
        'Lambda-Runtime-Aws-Request-Id': invocation.id,
        'Lambda-Runtime-Deadline-Ms': String(Date.now() + TIMEOUT_MS),
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-central-1:000000000000:function:gateway',
        'Lambda-Runtime-Trace-Id': 'Root=1-0-0',
      })
      .end(invocation.event);
  };

  const respond = async (id: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const invocation = running.get(id);
    if (!invocation) {
      response.writeHead(404).end();
      return;
    }
    try {
      await relay(request, invocation.sink);
    } catch (error) {
      invocation.sink.fail(String(error));
    }
    running.delete(id);
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}');
    invocation.done();
  };

  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const path = request.url ?? '';
    if (path.endsWith('/invocation/next')) {
      idle.push(response);
      match();
      return;
    }
    const [, id, what] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (id && what === 'response') return respond(decodeURIComponent(id), request, response);
    const body = await buffer(request);
    if (path.endsWith('/init/error')) initError = body.toString();
    response.writeHead(202).end('{}');
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when the function has responded or failed. */
    invoke: (event: unknown, sink: ResponseSink): Promise<void> =>
      new Promise((done) => {
        waiting.push({ id: randomUUID(), event: JSON.stringify(event), sink, done });
        match();
      }),
    /** The runtime waits for an invocation: what came before is over, close event and all. */
    isIdle: (): boolean => idle.length > 0,
    initError: (): string | undefined => initError,
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export type RuntimeApi = Awaited<ReturnType<typeof startRuntimeApi>>;
