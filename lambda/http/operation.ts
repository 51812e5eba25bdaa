import * as z from 'zod/mini';
import type { AuditAction } from '../domain/accounts/audit.ts';
import type { Permission } from '../domain/accounts/permissions.ts';
import type { Principal } from '../domain/accounts/scope.ts';
import type { ErrorCode } from './error-codes.ts';

/**
 * Who verifies the caller's token: nobody, the API's Cognito authorizer, the handler itself, or the stack, which takes API tokens
 * (`machine`). Behind the authorizer and for `machine`, the stack also checks that the caller's role has the permission.
 */
type Access =
  | { readonly access: 'public' | 'handler'; readonly permission?: never }
  | { readonly access: 'authorizer' | 'machine'; readonly permission: Permission };

/** At most `requests` in each window of `minutes`. */
export interface RateLimit {
  readonly requests: number;
  readonly minutes: number;
}

/** Requests above one of the limits get 429. They are counted before the operation runs, and also if it fails. */
export interface RateLimits {
  /** A client is an IPv4 address, or an IPv6 network of 64 bits, which is what one customer of a provider has. */
  readonly perClient?: RateLimit;
  /** Requests with the same `email` in the body. */
  readonly perEmail?: RateLimit;
  /** Requests of the same account, for operations that look at the caller. */
  readonly perAccount?: RateLimit;
}

/** A writing operation says which entries of the audit log it writes, or in a sentence why none. */
type Recorded =
  | { readonly method: 'GET'; readonly audits?: string }
  | {
      readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      readonly audits: readonly [AuditAction, ...AuditAction[]] | string;
    };

interface Endpoint {
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  /** Relative to the API's base path, with parameters in braces: `/keys/{keyId}`. */
  readonly path: `/${string}`;
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodMiniObject;
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniType;
  readonly rateLimits?: RateLimits;
  /** An OAuth 2 endpoint: its body is a form, and its errors are those of RFC 6749. */
  readonly isOAuth?: true;
  /** An endpoint of the Model Context Protocol: its errors have the form of JSON-RPC, and a message without a response gets 202. */
  readonly isMcp?: true;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    /** Undefined for an empty response. */
    readonly schema?: z.ZodMiniType;
    /** The response is a stream of text of this media type instead of JSON. The implementation yields the pieces. */
    readonly streamed?: { readonly contentType: string; readonly filename: string };
  };
  /** Errors in addition to those of every operation. */
  readonly errors: readonly ErrorCode[];
}

/** One endpoint of the dashboard API: its route, schemas and documentation. Does no I/O; the OpenAPI document is generated from it. */
export type Operation = Endpoint & Access & Recorded;

/**
 * An operation as it is written: `access` is the authorizer's unless said otherwise, and `errors` may have nothing to add. Where the path has
 * `{id}`, `idParams` and the error NOT_FOUND are added.
 */
type Definition = Omit<Endpoint, 'id' | 'path' | 'group' | 'errors'> &
  Partial<Pick<Endpoint, 'errors'>> & { readonly audits?: Operation['audits'] } & (
    | Access
    | { readonly access?: never; readonly permission: Permission }
  );

/** The path's `{id}`. */
export const idParams = z.strictObject({ id: z.string().check(z.minLength(1), z.maxLength(64)) });

/** `GET /keys/{keyId}`. */
type MethodAndPath = `${Operation['method']} /${string}`;

/** The members that `operation` adds to a definition. */
type Added<D extends Definition, R extends MethodAndPath> = Pick<Endpoint, 'id' | 'path' | 'group' | 'errors'> & {
  readonly method: R extends `${infer Method} ${string}` ? Method : never;
  readonly access: D extends { readonly access: infer A extends string } ? A : 'authorizer';
} & (D extends { readonly params: object }
    ? unknown
    : R extends `${string}{id}${string}`
      ? { readonly params: typeof idParams }
      : unknown);

/** An object that the API's document has once, under a name. */
export const component = <Shape extends z.core.$ZodShape>(id: string, members: Shape) =>
  z.object(members).register(z.globalRegistry, { id });

type SchemaOf<Of> = Of extends z.ZodMiniType
  ? Of
  : Of extends z.core.$ZodShape
    ? ReturnType<typeof z.object<Of>>
    : never;

/** Makes responses with a status: each of a schema, or of the members of an object. */
const responding =
  <Status extends 200 | 201>(status: Status) =>
  <Of extends z.ZodMiniType | z.core.$ZodShape>(description: string, of: Of) => ({
    status,
    description,
    schema: (of instanceof z.ZodMiniType ? of : z.object(of as z.core.$ZodShape)) as SchemaOf<Of>,
  });
export const ok = responding(200);
export const created = responding(201);

/** Makes the operations of a group. Keeps the literal types of a definition, from which `Input` and `Output` are derived. */
export const inGroup =
  (group: string) =>
  <const D extends Definition, const R extends MethodAndPath>(
    id: string,
    methodAndPath: R,
    definition: D & (R extends `GET ${string}` ? unknown : { readonly audits: NonNullable<Operation['audits']> }),
  ): D & Added<D, R> => {
    const [method, path = ''] = methodAndPath.split(' ');
    const ofItem = path.includes('{id}');
    const errors = [...(ofItem ? ['NOT_FOUND'] : []), ...(definition.errors ?? [])];
    const params = ofItem ? { params: idParams } : {};
    return { id, method, path, group, access: 'authorizer', ...params, ...definition, errors } as unknown as D &
      Added<D, R>;
  };

/** The same for scripts: `/machine/…`, where an API token is the credential. It must only read, because such a token is sent as it is. */
export const forMachines = <D extends Operation & { readonly method: 'GET'; readonly access: 'authorizer' }>(
  definition: D,
) => ({
  ...definition,
  id: `machine${definition.id.charAt(0).toUpperCase()}${definition.id.slice(1)}`,
  path: `/machine${definition.path}` as const,
  summary: `${definition.summary}, with an API token`,
  access: 'machine' as const,
});

/** A user's role in an account. `accountId` (internal id) scopes every read and write. */
export interface Membership extends Omit<Principal, 'userId'> {
  readonly accountId: string;
  /** The caller's name in the audit log: the user's mail address, or a token's name. */
  readonly name: string;
  /** The API token, if the caller is a program. */
  readonly tokenId?: string | undefined;
}

/** The caller. `userId` comes from the verified token, the membership from the table. */
export interface Caller extends Membership {
  readonly userId: string;
  /** A person's name in the user pool. */
  readonly username?: string | undefined;
  /** When a person signed in, in seconds since 1970. */
  readonly authTime?: number | undefined;
}

type Parsed<S> = S extends z.ZodMiniType ? z.output<S> : undefined;

export interface Input<O extends Operation> {
  readonly params: Parsed<O['params']>;
  readonly query: Parsed<O['query']>;
  readonly body: Parsed<O['body']>;
  readonly caller: O extends { readonly permission: Permission } ? Caller : undefined;
  /** The `Authorization` header, for operations that verify it themselves. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** `https://spend.acme.dev`: the origin of this API, as the client called it. */
  readonly origin?: string;
  /** The IP address that the request came from. */
  readonly clientAddress?: string | undefined;
}

/** The caller of any operation that has one, and from where. */
export type CallerInput = Pick<Input<Operation & { readonly permission: Permission }>, 'caller' | 'clientAddress'>;

/** The result of an implementation; nothing for an empty response. */
type Output<O extends Operation> = O extends {
  isMcp: true;
  body: object;
  success: { schema: infer S extends z.ZodMiniType };
}
  ? Promise<z.input<S> | undefined>
  : O['success'] extends { streamed: object }
    ? Promise<AsyncIterable<string>>
    : O['success'] extends { schema: infer S extends z.ZodMiniType }
      ? Promise<z.input<S>>
      : Promise<void>;

export type Implementation<O extends Operation> = (input: Input<O>) => Output<O>;

/** An operation and its implementation, as the stack takes them. */
export interface Route {
  readonly operation: Operation;
  readonly run: (input: Input<Operation>) => Promise<unknown>;
}

/** Connects an operation and its implementation. `implement` receives input that the operation's schemas have parsed. */
export const route = <O extends Operation>(definition: O, implement: Implementation<O>): Route => ({
  operation: definition,
  run: implement as unknown as Route['run'],
});

type Operations = Readonly<Record<string, Operation>>;

/** An implementation for each operation, or for some, under its name. Those for machines are served by a function of their own. */
export type Implementations<O extends Operations, Names extends keyof O = keyof O> = {
  readonly [Name in Names as O[Name] extends { readonly access: 'machine' } ? never : Name]: Implementation<O[Name]>;
};

/** Connects the operations of a resource and the implementations of the same names. */
export const routes = <O extends Operations>(operations: O, implementations: Implementations<O>): Route[] => {
  const byName = implementations as Readonly<Record<string, Implementation<Operation>>>;
  return Object.entries(operations).flatMap(([name, each]) => {
    const implement = byName[name];
    return implement ? [route(each, implement)] : [];
  });
};
