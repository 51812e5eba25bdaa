import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { invalid, PayloadTooLargeError, UnauthenticatedError, ValidationError } from '../domain/errors.ts';
import { messageFor, violationsOf } from '../domain/violations.ts';
import type { Caller, Membership } from './operation.ts';

/** Far larger than any valid body. API Gateway itself allows 10 MB. */
export const MAX_BODY_BYTES = 65_536;

/** Headers by lower-case name; the last value of a repeated header. REST API events keep the client's case. */
export const headersOf = (event: Pick<APIGatewayProxyEvent, 'headers'>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

/** The origin that the client called. API Gateway takes no other host, and says the protocol. */
export const originOf = (event: Pick<APIGatewayProxyEvent, 'headers'>): string => {
  const { host, 'x-forwarded-proto': protocol = 'https' } = headersOf(event);
  return `${protocol}://${host}`;
};

/** @throws ValidationError */
export const parseWith = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value, { error: messageFor });
  if (!result.success) throw new ValidationError(violationsOf(result.error));
  return result.data;
};

/** A body that is no JSON: JSON-RPC has a code of its own for it. */
export class InvalidJsonError extends ValidationError {
  constructor() {
    const message = 'The body is not valid JSON.';
    super([{ path: '', message }], message);
  }
}

const invalidBody = (message: string) => new ValidationError([{ path: '', message }], message);

/** Far deeper than any valid body. `JSON.parse` and what walks its result would use up the stack at some thousands. */
const MAX_DEPTH = 64;

const isTooDeep = (json: string): boolean => {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at] as string;
    if (character === '"') inString = !inString;
    else if (inString && character === '\\') at += 1;
    else if (!inString && '[{'.includes(character)) depth += 1;
    else if (!inString && ']}'.includes(character)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
};

/** A JSON reviver that rejects lone surrogates, because they cannot be stored, mailed or shown. */
const requireWellFormed = (name: string, value: unknown): unknown => {
  if (name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())) return value;
  throw invalidBody('The body contains text that is not valid Unicode (a lone surrogate).');
};

/** Paths of members named `__proto__`: JSON.parse makes members of them, which schemas and copies of objects pass over. */
const prototypePaths = (value: unknown, path: readonly string[] = []): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((name) =>
        name === '__proto__'
          ? [[...path, name].join('.')]
          : prototypePaths((value as Record<string, unknown>)[name], [...path, name]),
      );

const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json, requireWellFormed);
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw new InvalidJsonError();
  }
};

const mediaTypeOf = (event: Pick<APIGatewayProxyEvent, 'headers'>): string | undefined =>
  headersOf(event)['content-type']?.split(';')[0]?.trim().toLowerCase();

const bodyBytesOf = (event: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>): Buffer => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length <= MAX_BODY_BYTES) return bytes;
  throw new PayloadTooLargeError(`The body has ${bytes.length} bytes; the limit is ${MAX_BODY_BYTES}.`);
};

/**
 * The parsed JSON body of a request, not yet validated by a schema.
 *
 * @throws ValidationError if there is no body, or it is not JSON
 * @throws PayloadTooLargeError above MAX_BODY_BYTES
 */
export const jsonBodyOf = (event: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded' | 'headers'>): unknown => {
  const bytes = bodyBytesOf(event);
  if (bytes.length === 0) throw invalidBody('A JSON body is required.');
  const mediaType = mediaTypeOf(event);
  if (mediaType !== undefined && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw invalidBody('Send the body as JSON with Content-Type: application/json.');
  }
  const json = bytes.toString('utf8');
  if (isTooDeep(json)) throw invalidBody(`The body is nested too deeply: at most ${MAX_DEPTH} levels.`);
  const value = parseJson(json);
  const unknown = prototypePaths(value);
  if (unknown.length > 0) throw new ValidationError(unknown.map((path) => ({ path, message: 'is unknown' })));
  return value;
};

/**
 * The parameters of a form body. Those without a value count as omitted, by RFC 6749.
 *
 * @throws ValidationError if the body is no form, or repeats a parameter
 * @throws PayloadTooLargeError above MAX_BODY_BYTES
 */
export const formBodyOf = (
  event: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded' | 'headers'>,
): Record<string, string> => {
  const bytes = bodyBytesOf(event);
  if (mediaTypeOf(event) !== 'application/x-www-form-urlencoded')
    throw invalidBody('Send the body as a form with Content-Type: application/x-www-form-urlencoded.');
  const given = [...new URLSearchParams(bytes.toString('utf8'))].filter(([, value]) => value !== '');
  const repeated = given.find(([name], index) => given.findIndex(([other]) => other === name) !== index);
  if (repeated) throw invalid(repeated[0], 'must be sent only once');
  return Object.fromEntries(given);
};

/** The schema of a list, where the parameter is one. */
const listIn = (schema: unknown): z.ZodMiniArray | undefined => {
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault) return listIn(schema.def.innerType);
  return schema instanceof z.ZodMiniArray ? schema : undefined;
};

/** Whether a schema is of names of the API: fixed ones, or with a fixed prefix. */
const isOfNames = (schema: unknown): boolean =>
  schema instanceof z.ZodMiniEnum ||
  schema instanceof z.ZodMiniTemplateLiteral ||
  (schema instanceof z.ZodMiniUnion && schema.def.options.every(isOfNames));

/** Names of the API have no commas, so a list of them may also be one text: `a,b`. A client's names may have some. */
const splitNames = (list: z.ZodMiniArray, values: readonly string[]): readonly string[] =>
  isOfNames(list.def.element) ? values.flatMap((value) => value.split(',')) : values;

/**
 * The query in the shape of the schema: a list for a repeatable parameter, a string for any other. A list of fixed names may be separated by
 * commas, too.
 */
export const queryOf = (
  event: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>,
  schema: z.ZodMiniObject,
): Record<string, unknown> => {
  const sent = Object.entries(event.multiValueQueryStringParameters ?? {}) as [string, string[]][];
  const repeated = sent.filter(([name, values]) => values.length > 1 && !listIn(schema.shape[name]));
  if (repeated.length > 0) {
    throw new ValidationError(repeated.map(([path]) => ({ path, message: 'must be sent only once' })));
  }
  return Object.fromEntries(
    sent.map(([name, values]) => {
      const list = listIn(schema.shape[name]);
      return [name, list ? splitNames(list, values) : values[0]];
    }),
  );
};

/** Claims as API Gateway passes them: as text. */
const claimsSchema = z.object({
  sub: z.string().check(z.minLength(1)),
  aud: z.string(),
  auth_time: z.pipe(z.string().check(z.regex(/^\d{1,12}$/)), z.transform(Number)),
  'cognito:username': z.optional(z.string()),
});

/** The claims of a verified token. */
interface Claims {
  readonly userId: string;
  /** The app client that the token was issued to. */
  readonly audience: string;
  /** When the user signed in, in seconds since 1970. */
  readonly authTime: number;
}

/**
 * Finds the account and role of a token's user; undefined for a user without an account, or a token of another app client.
 *
 * @param isFresh true where a cached one is not enough
 * @throws UnauthenticatedError if the session has ended
 */
export type MembershipOf = (claims: Claims, isFresh?: boolean) => Promise<Membership | undefined>;

/**
 * The caller: the user from the claims that the API's Cognito authorizer verified, account and role from the table. Tokens do not
 * contain them, so a removed user loses access before the token expires. The authorizer accepts tokens of every client of the user pool,
 * and of sessions that were ended: `membershipOf` refuses both.
 *
 * @throws UnauthenticatedError if the claims name no user, or the user has no account
 */
export const callerOf = async (
  event: Pick<APIGatewayProxyEvent, 'requestContext'>,
  membershipOf: MembershipOf,
  isFresh = false,
): Promise<Caller> => {
  const { data } = claimsSchema.safeParse(event.requestContext.authorizer?.['claims']);
  const claims = data && { userId: data.sub, audience: data.aud, authTime: data.auth_time };
  const membership = claims && (await membershipOf(claims, isFresh));
  if (claims === undefined || membership === undefined) throw new UnauthenticatedError();
  return { ...membership, userId: claims.userId, username: data?.['cognito:username'], authTime: claims.authTime };
};

/** Finds the owner of an API token and notes the use; undefined if there is no such token, or it has expired. */
export type TokenOwnerOf = (token: string) => Promise<Caller | undefined>;

/**
 * The caller with an API token, for operations with `access: 'machine'`.
 *
 * @throws UnauthenticatedError
 */
export const tokenCallerOf = async (
  event: Pick<APIGatewayProxyEvent, 'headers'>,
  tokenOwnerOf: TokenOwnerOf | undefined,
): Promise<Caller> => {
  if (tokenOwnerOf === undefined) throw new Error('The stack has an operation for machines and no tokenOwnerOf.');
  const token = /^Bearer +(\S+)$/i.exec(headersOf(event)['authorization'] ?? '')?.[1];
  if (token?.startsWith('eyJ'))
    throw new UnauthenticatedError('This path takes API tokens (sat_…). Send a JWT to the same path without /machine.');
  const caller = token === undefined ? undefined : await tokenOwnerOf(token);
  if (caller !== undefined) return caller;
  throw new UnauthenticatedError(
    token === undefined
      ? 'Send Authorization: Bearer <token> with an API token (sat_…) from POST /tokens.'
      : 'The API token is wrong, removed or expired. POST /tokens creates one.',
  );
};
