/*
 * How signed calls reach AWS. As for providers, two transports implement one interface: node:http(s) on Lambda
 * (transport-node.ts), undici's dispatch in long-running servers (transport-undici.ts).
 */

export interface AwsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AwsResponse {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Posts to `/` of one endpoint over kept-alive connections. Rejects with DeadConnectionError if the connection closed before
 * any response and another may succeed, otherwise with Error (timeout, no connection, response too long).
 */
export type AwsTransport = (request: AwsRequest, timeoutMs: number) => Promise<AwsResponse>;

/** Shorter than AWS keeps idle connections open. */
export const MAX_IDLE_MS = 5_000;

/** The responses that a gateway reads have a few kilobytes; a larger one is wrong. */
export const MAX_RESPONSE_BYTES = 2 ** 20;

/** The other side closed a kept connection before it responded. */
export class DeadConnectionError extends Error {
  override readonly name = 'DeadConnectionError';
}

export const timeoutError = (timeoutMs: number): Error => new Error(`no response within ${timeoutMs} ms`);
export const tooLongError = (): Error => new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
