/** Messages between the host and a function's worker thread. */

export interface WorkerSetup {
  readonly file: string;
  readonly exportName: string;
}

interface InvocationContext {
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly awsRequestId: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
}

export interface Invocation {
  readonly event: unknown;
  readonly context: InvocationContext;
  /** Epoch milliseconds after which the environment is ended. */
  readonly deadline: number;
}

export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

export type HostMessage =
  | { readonly kind: 'invoke'; readonly invocation: Invocation }
  /** The chunk has gone out, there is room for the next. */
  | { readonly kind: 'more' }
  /** Print what is not printed yet, and end. */
  | { readonly kind: 'stop' };

export type WorkerMessage =
  | { readonly kind: 'ready' }
  /** Bytes of a streamed response, metadata first. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  /** The handler's result as JSON, undefined where it returned nothing, as on Lambda. */
  | { readonly kind: 'result'; readonly json: string | undefined }
  | { readonly kind: 'error'; readonly error: SerializedError };
