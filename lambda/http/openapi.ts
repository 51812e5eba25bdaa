import * as z from 'zod/mini';
import { isForTokens, rolesWith } from '../domain/accounts/permissions.ts';
import { type ErrorCode, errorBodySchema, errorCodes } from './error-codes.ts';
import { mcpErrorSchema } from './mcp-http.ts';
import { oAuthErrorSchema } from './oauth-error.ts';
import type { Operation } from './operation.ts';
import { wholes } from './parameters.ts';
import { rateLimitText } from './rate-limits.ts';

type Json = Record<string, unknown>;

const VERSION = '0.2.0';

const description = `Spend on AI providers, tracked by the gateway.

All errors have the same shape. Times are UTC in ISO 8601. Amounts in responses are integers in nano-USD (1e-9 USD), and sums of
spend also decimal strings in USD; an unknown cost is null, never 0. Amounts that you send are numbers in USD. Members of a body, and
parameters of an operation that takes some, are rejected if this document does not describe them. Of changes of one thing at the same
time, one gets 409 CONFLICT: read it again, and send what you change.`;

/** Example messages, as the service sends them. */
const errorExamples: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'The request is not valid: see details.',
  INVALID_CREDENTIALS: 'E-mail or password is wrong. POST /auth/forgot-password sends a code to set a new password.',
  TOTP_REQUIRED: 'Send the code that your authenticator app shows as totp.',
  TOTP_SETUP_REQUIRED: 'This account requires a second factor. POST /auth/totp sets one up; then log in with its code.',
  UNAUTHORIZED: 'The token is invalid or has expired. Log in again, or use POST /auth/refresh.',
  FORBIDDEN:
    'Your role viewer lacks the permission rules:write. Roles that have it: owner, admin, member. An owner or admin can change your role.',
  REGISTRATION_CLOSED: 'New users come here by invitation. Ask a member of your account for one.',
  NOT_FOUND: 'There is no such key.',
  METHOD_NOT_ALLOWED: 'This server opens no stream. Send messages with POST.',
  EMAIL_TAKEN: 'A user with this e-mail address already exists. Log in, or reset the password.',
  CONFLICT: 'A registration with this e-mail address is in progress. Try again in a minute.',
  LIMIT_REACHED: 'The plan allows 2 active keys. Revoke one, or upgrade the plan.',
  PAYLOAD_TOO_LARGE: 'The body has 70000 bytes; the limit is 65536.',
  RATE_LIMITED: 'Too many attempts. Try again in a few minutes.',
  INTERNAL: 'The service failed. Report this with the request id.',
  UNAVAILABLE: 'The service is busy. Try again in a few seconds.',
};

/** API Gateway itself responds with 504, and without Retry-After. */
const describe = (status: number, code: ErrorCode): string =>
  status === 504 ? 'The response takes longer than 29 s.' : errorCodes[code].description;

const errorExample = (status: number, code: ErrorCode) => ({
  summary: describe(status, code),
  value: {
    error: {
      code,
      message: errorExamples[code],
      type: 'gateway_error',
      requestId: '0f8fad5b-d9cb-469f-a165-70867728950e',
      ...(code === 'VALIDATION_ERROR' && { details: [{ path: 'email', message: 'must be an e-mail address' }] }),
    },
  },
});

const orNull = ({ description: text, ...schema }: Json): Json => ({
  ...(text !== undefined && { description: text }),
  anyOf: [...((schema['anyOf'] as Json[]) ?? [schema]).filter(({ type }) => type !== 'null'), { type: 'null' }],
});

/** What a merge patch may have of a schema: any part of an object, and null where a member may be left out. */
const partOf = ({ required = [], default: _, ...node }: Json): Json => {
  const { properties, additionalProperties: others, anyOf } = node;
  const isRequired = (name: string) => (required as string[]).includes(name);
  const members = Object.entries(properties ?? {}).map(([name, member]) => [
    name,
    isRequired(name) ? partOf(member) : orNull(partOf(member)),
  ]);
  return {
    ...node,
    ...(members.length > 0 && { properties: Object.fromEntries(members) }),
    ...(typeof others === 'object' && { additionalProperties: orNull(others as Json) }),
    ...(anyOf !== undefined && { anyOf: (anyOf as Json[]).map(partOf) }),
  };
};

/** Removes the patterns of dates, because `format` already defines them, and describes the parts of a merge patch. */
const complete = ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void => {
  if (jsonSchema['format'] === 'date' || jsonSchema['format'] === 'date-time') delete jsonSchema['pattern'];
  const whole = wholes.get(zodSchema);
  if (whole === undefined) return;
  for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
  const part = partOf(z.toJSONSchema(whole, { io: 'input', override: complete }));
  Object.assign(jsonSchema, whole._zod.optin === 'optional' ? orNull(part) : part);
};

/** Writes schemas with an id once, under components, and other schemas inline. */
const schemaWriter = () => {
  const components: Json = {};
  const responses: Json = {};
  const hoist = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(hoist);
    if (typeof node !== 'object' || node === null) return node;
    const { $defs, $schema: _, ...rest } = node as Json & { $defs?: Json };
    for (const [name, schema] of Object.entries($defs ?? {})) components[name] = hoist(schema);
    return Object.fromEntries(
      Object.entries(rest).map(([key, value]) =>
        key === '$ref' && typeof value === 'string'
          ? [key, value.replace('#/$defs/', '#/components/schemas/')]
          : [key, hoist(value)],
      ),
    );
  };
  const write = (schema: z.ZodMiniType, io: 'input' | 'output'): Json =>
    hoist(z.toJSONSchema(schema, { io, override: complete })) as Json;
  /** Writes a response that several operations share once. */
  const share = (name: string, response: () => Json): Json => {
    responses[name] ??= response();
    return { $ref: `#/components/responses/${name}` };
  };
  return { components, responses, write, share };
};

type Writer = ReturnType<typeof schemaWriter>;

const parameters = (schema: z.ZodMiniObject | undefined, location: 'path' | 'query', { write }: Writer): Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = write(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description: text, ...property }]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    ...(text !== undefined && { description: text }),
    schema: property,
  }));
};

/** Errors of every operation, in addition to its own. */
const commonErrors = ({ params, query, body, access }: Operation): ErrorCode[] => [
  ...(params || query || body ? (['VALIDATION_ERROR'] as const) : []),
  ...(body ? (['PAYLOAD_TOO_LARGE'] as const) : []),
  ...(access === 'public' ? [] : (['UNAUTHORIZED'] as const)),
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 1 } },
};

const described = (status: number, codes: readonly ErrorCode[]): string =>
  codes.map((code) => `${code}: ${describe(status, code)}`).join(' ');

const errorResponse = (status: number, text: string, schema: Json, examples?: Json): Json => ({
  description: text,
  ...((status === 429 || status === 503) && { headers: retryAfter }),
  content: { 'application/json': { schema, ...(examples && { examples }) } },
});

const ownErrorResponse = (status: number, codes: readonly ErrorCode[], { write, share }: Writer): Json =>
  share(`${status}-${codes.join('-')}`, () =>
    errorResponse(
      status,
      described(status, codes),
      write(errorBodySchema, 'output'),
      Object.fromEntries(codes.map((code) => [code, errorExample(status, code)])),
    ),
  );

/** An OAuth 2 endpoint has its own errors. Those of API Gateway and firewall have the service's shape here, too. */
const oAuthErrorResponses = ({ write }: Writer): Json => {
  const own = write(oAuthErrorSchema, 'output');
  const either = { anyOf: [own, write(errorBodySchema, 'output')] };
  return {
    400: errorResponse(
      400,
      'The request is invalid; `error` and `error_description` say how (RFC 6749, section 5.2).',
      own,
    ),
    401: errorResponse(401, 'invalid_client: the credentials are wrong, removed or expired.', own),
    429: errorResponse(429, errorCodes.RATE_LIMITED.description, either),
    500: errorResponse(500, errorCodes.INTERNAL.description, either),
    503: errorResponse(503, errorCodes.UNAVAILABLE.description, either),
  };
};

/** Those of the handler have the form of JSON-RPC, those of API Gateway and firewall the service's shape. */
const mcpErrorResponses = (byStatus: readonly [number, readonly ErrorCode[]][], { write }: Writer): Json => {
  const schema = { anyOf: [write(mcpErrorSchema, 'output'), write(errorBodySchema, 'output')] };
  return Object.fromEntries(
    byStatus.map(([status, codes]) => [status, errorResponse(status, described(status, codes), schema)]),
  );
};

const errorResponses = (operation: Operation, writer: Writer): Json => {
  const codes = [...new Set([...operation.errors, ...commonErrors(operation)])];
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status as number);
  byStatus.set(504, ['UNAVAILABLE']);
  if (operation.isMcp) return mcpErrorResponses([...byStatus], writer);
  const ours = Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, ownErrorResponse(status, some, writer)]),
  );
  return operation.isOAuth ? { ...ours, ...oAuthErrorResponses(writer) } : ours;
};

const notModified = {
  description: 'What you have is current: `If-None-Match` had the `ETag` of the last response. There is no body.',
};

const successResponse = ({ success }: Operation, { write }: Writer): Json => ({
  description: success.description,
  ...(success.schema && {
    content: {
      [success.streamed?.contentType.split(';')[0] ?? 'application/json']: { schema: write(success.schema, 'output') },
    },
  }),
});

/** Credentials that an operation takes, one of them. */
const securityOf = ({ access, permission }: Operation): Record<string, never[]>[] => {
  if (access === 'public') return [];
  if (access === 'machine') return [{ apiToken: [] }];
  return permission && !isForTokens(permission) ? [{ token: [] }] : [{ token: [] }, { clientCredentials: [] }];
};

const operationObject = (operation: Operation, writer: Writer): Json => {
  const { permission, audits, params, query, body, success, isOAuth } = operation;
  const roles = permission && `Needs the permission \`${permission}\` (roles: ${rolesWith(permission).join(', ')}).`;
  const remarks = [operation.description, rateLimitText(operation), roles].filter((remark) => remark !== undefined);
  const all = [...parameters(params, 'path', writer), ...parameters(query, 'query', writer)];
  return {
    operationId: operation.id,
    tags: [operation.group],
    summary: operation.summary,
    ...(remarks.length > 0 && { description: remarks.join('\n\n') }),
    ...(permission && { 'x-permission': permission }),
    ...(Array.isArray(audits) && { 'x-audit': audits }),
    security: securityOf(operation),
    ...(all.length > 0 && { parameters: all }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          [isOAuth ? 'application/x-www-form-urlencoded' : 'application/json']: { schema: writer.write(body, 'input') },
        },
      },
    }),
    responses: {
      [success.status]: successResponse(operation, writer),
      ...(operation.method === 'GET' && !success.streamed && { 304: writer.share('304', () => notModified) }),
      ...(operation.isMcp && body && { 202: { description: 'Accepted: there is nothing to respond.' } }),
      ...errorResponses(operation, writer),
    },
  };
};

/**
 * The OpenAPI 3.1 document of the given operations.
 *
 * @param groups a description of each group
 */
export const openApiDocument = (operations: readonly Operation[], groups: Readonly<Record<string, string>>) => {
  const writer = schemaWriter();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation, writer),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'AI Spend Gateway: dashboard API',
      version: VERSION,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: 'https://{dashboardDomain}/api',
        variables: {
          dashboardDomain: { default: 'dashboard.example.com', description: 'Dashboard domain of your deployment.' },
        },
      },
    ],
    tags: [...new Set(operations.map(({ group }) => group))].map((name) => ({ name, description: groups[name] })),
    paths,
    components: {
      schemas: writer.components,
      responses: writer.responses,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token from POST /auth/login.' },
        clientCredentials: {
          type: 'oauth2',
          description: 'For programs: the id of an API token as client id, and the token as client secret.',
          flows: { clientCredentials: { tokenUrl: '/api/auth/token', scopes: {} } },
        },
        apiToken: { type: 'http', scheme: 'bearer', description: 'An API token (sat_…) from POST /tokens.' },
      },
    },
  };
};
