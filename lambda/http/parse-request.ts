import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { PayloadTooLargeError, UnauthenticatedError, ValidationError } from '../domain/errors.ts';
import type { Caller } from './operation.ts';
import { violationsOf, wordsFor } from './violations.ts';

/** Far above any body this API takes; API Gateway itself would allow 10 MB. */
export const MAX_BODY_BYTES = 65_536;

/** Headers by lower-case name; of a repeated header the last. REST API events keep the case the client sent. */
export const headersOf = (event: Pick<APIGatewayProxyEvent, 'headers'>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

/** @throws ValidationError */
export const parseWith = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value, { error: wordsFor });
  if (!result.success) throw new ValidationError(violationsOf(result.error));
  return result.data;
};

const invalidBody = (message: string) => new ValidationError([{ path: '', message }], message);

/** Half of a surrogate pair is no character: it cannot be stored, mailed or shown. */
const wellFormed = (name: string, value: unknown): unknown => {
  if (name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())) return value;
  throw invalidBody('The body holds text that is not valid Unicode (half of a surrogate pair).');
};

/**
 * The JSON body of a request, not yet held against a schema.
 *
 * @throws ValidationError where there is none, or it is not JSON
 * @throws PayloadTooLargeError past MAX_BODY_BYTES
 */
export const jsonBodyOf = (event: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded' | 'headers'>): unknown => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY_BYTES) {
    throw new PayloadTooLargeError(`The body has ${bytes.length} bytes; at most ${MAX_BODY_BYTES} are taken.`);
  }
  if (bytes.length === 0) throw invalidBody('A JSON body is required.');
  const mediaType = headersOf(event)['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== undefined && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw invalidBody('Send the body as JSON, with Content-Type: application/json.');
  }
  try {
    return JSON.parse(bytes.toString('utf8'), wellFormed);
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw invalidBody('The body is not valid JSON.');
  }
};

const takesMany = (schema: unknown): boolean =>
  schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault
    ? takesMany(schema.def.innerType)
    : schema instanceof z.ZodMiniArray;

/** The query as the schema wants it: a list for a parameter that may be repeated, a string for one that may not. */
export const queryOf = (
  event: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>,
  schema: z.ZodMiniObject,
): Record<string, unknown> => {
  const sent = Object.entries(event.multiValueQueryStringParameters ?? {}) as [string, string[]][];
  const repeated = sent.filter(([name, values]) => values.length > 1 && !takesMany(schema.shape[name]));
  if (repeated.length > 0) {
    throw new ValidationError(repeated.map(([path]) => ({ path, message: 'may be given only once' })));
  }
  return Object.fromEntries(sent.map(([name, values]) => [name, takesMany(schema.shape[name]) ? values : values[0]]));
};

const claimsSchema = z.object({ sub: z.string().check(z.minLength(1)) });

/** Gives the account a user belongs to; undefined for a user without one. */
export type AccountOf = (userId: string) => Promise<string | undefined>;

/**
 * Who calls: the user from the claims that the API's Cognito authorizer has verified, the account from the table. A token says
 * nothing of the account, so a user who is removed loses access without waiting for the token to expire.
 *
 * @throws UnauthenticatedError where there is no user, or the user has no account: a token of this pool, but not one of ours
 */
export const callerOf = async (
  event: Pick<APIGatewayProxyEvent, 'requestContext'>,
  accountOf: AccountOf,
): Promise<Caller> => {
  const claims = claimsSchema.safeParse(event.requestContext.authorizer?.['claims']);
  const userId = claims.data?.sub;
  const accountId = userId === undefined ? undefined : await accountOf(userId);
  if (userId === undefined || accountId === undefined)
    throw new UnauthenticatedError('Send Authorization: Bearer <token> with a token from POST /auth/login.');
  return { accountId, userId };
};
