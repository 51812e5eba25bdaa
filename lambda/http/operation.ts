import type * as z from 'zod/mini';
import type { ErrorCode } from './error-codes.ts';

/** Who checks the caller's token: nobody, the API's Cognito authorizer, or the handler itself. */
type Access = 'public' | 'authorizer' | 'handler';

/** One endpoint of the dashboard API: what routes, parses and documents it. No I/O: the OpenAPI document is made from these. */
export interface Operation {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the API's base path, parameters in braces: `/keys/{keyId}`. */
  readonly path: `/${string}`;
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly params?: z.ZodMiniObject;
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniType;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    /** None for an empty answer. */
    readonly schema?: z.ZodMiniType;
    /** The answer is text of this media type instead of JSON, sent piece by piece as the implementation yields it. */
    readonly streamed?: { readonly contentType: string; readonly filename: string };
  };
  /** Beyond those every operation may answer with. */
  readonly errors: readonly ErrorCode[];
}

/** Keeps the literal types of a definition, so that `Input` and `Output` can be read off it. */
export const operation = <const O extends Operation>(definition: O): O => definition;

/** Who calls, from the verified token. `accountId` scopes every read and write. */
export interface Caller {
  readonly accountId: string;
  readonly userId: string;
}

type Parsed<S> = S extends z.ZodMiniType ? z.output<S> : undefined;

export interface Input<O extends Operation> {
  readonly params: Parsed<O['params']>;
  readonly query: Parsed<O['query']>;
  readonly body: Parsed<O['body']>;
  readonly caller: O['access'] extends 'authorizer' ? Caller : undefined;
  /** The `Authorization` header, for operations that check it themselves. */
  readonly authorization: string | undefined;
  readonly requestId: string;
}

/** What an implementation gives; nothing where the answer is empty. */
type Output<O extends Operation> = O['success'] extends { streamed: object }
  ? AsyncIterable<string>
  : O['success'] extends { schema: infer S extends z.ZodMiniType }
    ? z.input<S>
    : undefined;

export type Implementation<O extends Operation> = (input: Input<O>) => Promise<Output<O>>;

/** An operation and what does it, ready for the stack. */
export interface Route {
  readonly operation: Operation;
  readonly run: (input: Input<Operation>) => Promise<unknown>;
}

/** Ties an operation to its implementation; what reaches `implement` has been parsed by the operation's schemas. */
export const route = <O extends Operation>(definition: O, implement: Implementation<O>): Route => ({
  operation: definition,
  run: implement as unknown as Route['run'],
});
