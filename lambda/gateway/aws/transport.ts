/*
 * How signed calls reach AWS. As with providers, two transports serve one interface: node:http(s) on Lambda
 * (transport-node.ts), undici's dispatch in the long-running server (transport-undici.ts).
 */

export interface AwsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AwsAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Posts to one endpoint's `/` over kept-alive connections. Rejects with DeadConnectionError where a connection ended before it had
 * answered anything and another may do better, with Error otherwise (time-out, no connection, too long an answer).
 */
export type AwsTransport = (request: AwsRequest, timeoutMs: number) => Promise<AwsAnswer>;

/** AWS keeps idle connections for longer; after a freeze of the process nobody knows. */
export const MAX_IDLE_MS = 5_000;

/** AWS answers here are a few kilobytes; anything larger is not what was asked for. */
export const MAX_RESPONSE_BYTES = 2 ** 20;

/** A kept connection was closed by the other side before it had answered anything. */
export class DeadConnectionError extends Error {
  override readonly name = 'DeadConnectionError';
}

export const timedOut = (timeoutMs: number): Error => new Error(`no answer within ${timeoutMs} ms`);
export const tooLong = (): Error => new Error(`an answer of more than ${MAX_RESPONSE_BYTES} bytes`);
