/** Messages by type of gateway response, such as REQUEST_TOO_LARGE. */
export type ErrorMessages = Readonly<Record<string, string>>;

interface ErrorResponse {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const UNAVAILABLE = { status: 503, code: 'UNAVAILABLE', message: 'The service is busy. Try again in a few seconds.' };
const INTERNAL = { status: 500, code: 'INTERNAL', message: 'The service failed. Report this with the request id.' };
const NOT_FOUND = {
  status: 404,
  code: 'NOT_FOUND',
  message: 'There is no such endpoint. GET /api/openapi.json lists them.',
};

/**
 * Responses of API Gateway itself, with the words that the handlers use for the same error. `message` says what to do next and repeats
 * nothing of the request.
 */
const errorResponses: readonly ErrorResponse[] = [
  {
    type: 'BAD_REQUEST_BODY',
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'The request body is not valid.',
  },
  {
    type: 'BAD_REQUEST_PARAMETERS',
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'The request parameters are not valid.',
  },
  {
    type: 'UNAUTHORIZED',
    status: 401,
    code: 'UNAUTHORIZED',
    message: 'Send Authorization: Bearer <token> with a token from POST /auth/login.',
  },
  {
    type: 'EXPIRED_TOKEN',
    status: 401,
    code: 'UNAUTHORIZED',
    message: 'The token is invalid or has expired. Log in again, or use POST /auth/refresh.',
  },
  {
    type: 'INVALID_SIGNATURE',
    status: 401,
    code: 'UNAUTHORIZED',
    message: 'The token is invalid or has expired. Log in again, or use POST /auth/refresh.',
  },
  {
    type: 'ACCESS_DENIED',
    status: 403,
    code: 'FORBIDDEN',
    message: 'The token does not permit this request.',
  },
  {
    type: 'INVALID_API_KEY',
    status: 403,
    code: 'FORBIDDEN',
    message: 'The key does not permit this request.',
  },
  {
    type: 'WAF_FILTERED',
    status: 403,
    code: 'FORBIDDEN',
    message:
      'The request was refused by the firewall. If it is a legitimate one, report the requestId to the operator.',
  },
  // REST APIs respond with "missing authentication token" to a path or method that does not exist.
  {
    type: 'MISSING_AUTHENTICATION_TOKEN',
    ...NOT_FOUND,
  },
  { type: 'RESOURCE_NOT_FOUND', ...NOT_FOUND },
  {
    type: 'REQUEST_TOO_LARGE',
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The request is too large. Send less at once.',
  },
  {
    type: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    code: 'VALIDATION_ERROR',
    message: 'Send the body as application/json.',
  },
  {
    type: 'THROTTLED',
    status: 429,
    code: 'RATE_LIMITED',
    message: 'Too many requests. Try again after the number of seconds in Retry-After.',
  },
  {
    type: 'QUOTA_EXCEEDED',
    status: 429,
    code: 'RATE_LIMITED',
    message: 'The quota is used up. Try again later.',
  },
  // Lambda throttles: REST APIs turn its 429 into one of these two, with status 500 by default. Neither request reached a handler.
  { type: 'API_CONFIGURATION_ERROR', ...UNAVAILABLE },
  { type: 'INTEGRATION_FAILURE', ...UNAVAILABLE },
  { type: 'AUTHORIZER_CONFIGURATION_ERROR', ...INTERNAL },
  { type: 'AUTHORIZER_FAILURE', ...UNAVAILABLE },
  {
    type: 'INTEGRATION_TIMEOUT',
    status: 504,
    code: UNAVAILABLE.code,
    message: 'The response took longer than the platform allows. Ask for less at once.',
  },
];

/** The two defaults cover all types without a row above; API Gateway sets their status. */
const defaultResponses: readonly (Omit<ErrorResponse, 'status'> & { readonly status?: undefined })[] = [
  { type: 'DEFAULT_4XX', code: 'VALIDATION_ERROR', message: 'The request could not be understood.' },
  { type: 'DEFAULT_5XX', code: INTERNAL.code, message: INTERNAL.message },
];

/**
 * Responses of API Gateway itself by type, as the definition of an API has them: errors always have the same shape.
 *
 * @param corsOrigins web origins that must be able to read the errors too
 * @param messages other words, where the API's clients need to know something else
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-gateway-responses.html
 */
export const gatewayResponses = (corsOrigins: readonly string[], messages: ErrorMessages = {}) =>
  Object.fromEntries(
    [...errorResponses, ...defaultResponses].map(({ type, status, code, message }) => [
      type,
      {
        ...(status !== undefined && { statusCode: String(status) }),
        responseParameters: Object.fromEntries(
          Object.entries({ ...plainHeaders, ...retryAfter(status), ...corsHeaders(corsOrigins) }).map(
            ([name, value]) => [`gatewayresponse.header.${name}`, value],
          ),
        ),
        responseTemplates: { 'application/json': template(code, messages[type] ?? message) },
      },
    ]),
  );

/** Text in quotes is literal; anything else names a variable. */
const plainHeaders = { 'X-Request-Id': 'context.requestId', 'Cache-Control': "'no-store'" };

/** Seconds after which a retry makes sense; the handlers use the same. */
const retryAfter = (status: number | undefined): Record<string, string> =>
  status === 429 || status === 503 ? { 'Retry-After': status === 429 ? "'10'" : "'5'" } : {};

/**
 * A gateway response cannot choose among origins by itself. With several, `*` is what lets each of them read the error: no
 * cookie is in play, and the body holds nothing but a code.
 */
const corsHeaders = (origins: readonly string[]): Record<string, string> => {
  if (origins.length === 0) return {};
  return {
    'Access-Control-Allow-Origin': origins.length === 1 ? `'${origins[0]}'` : "'*'",
    'Access-Control-Expose-Headers': "'X-Request-Id, Retry-After'",
  };
};

/** @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html: only simple variables, no VTL. */
const template = (code: string, message: string) =>
  JSON.stringify({ error: { code, message, type: 'gateway_error', requestId: '$context.requestId' } });
