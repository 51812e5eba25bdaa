import errorResponses from './error-responses.json' with { type: 'json' };

/** Messages by type of gateway response, such as REQUEST_TOO_LARGE. */
export type ErrorMessages = Readonly<Record<string, string>>;

interface ErrorResponse {
  readonly type: string;
  readonly status?: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Responses of API Gateway itself, with the words that the handlers use for the same error. A message says what to do next and repeats
 * nothing of the request. A path or method that does not exist gets MISSING_AUTHENTICATION_TOKEN. Where Lambda throttles, its 429 becomes
 * API_CONFIGURATION_ERROR or INTEGRATION_FAILURE: no handler got the request. The two defaults cover all other types, whose status API
 * Gateway sets.
 */
const responses: readonly ErrorResponse[] = errorResponses;

/**
 * Responses of API Gateway itself by type, as the definition of an API has them: errors always have the same shape.
 *
 * @param corsOrigins web origins that must be able to read the errors too
 * @param messages other words, where the API's clients need to know something else
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-gateway-responses.html
 */
export const gatewayResponses = (corsOrigins: readonly string[], messages: ErrorMessages = {}) =>
  Object.fromEntries(
    responses.map(({ type, status, code, message }) => [
      type,
      {
        ...(status !== undefined && { statusCode: String(status) }),
        responseParameters: Object.fromEntries(
          Object.entries({ ...plainHeaders, ...retryAfter(status), ...literal(corsHeaders(corsOrigins)) }).map(
            ([name, value]) => [`gatewayresponse.header.${name}`, value],
          ),
        ),
        responseTemplates: { 'application/json': template(code, messages[type] ?? message) },
      },
    ]),
  );

/** Text in quotes is literal; anything else names a variable. */
const literal = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));

const plainHeaders = { 'X-Request-Id': 'context.requestId', 'Cache-Control': "'no-store'" };

/** Seconds after which a retry makes sense; the handlers use the same. */
const retryAfter = (status: number | undefined): Record<string, string> =>
  status === 429 || status === 503 ? { 'Retry-After': status === 429 ? "'10'" : "'5'" } : {};

/**
 * A response of API Gateway or the firewall cannot choose among origins by itself. With several, `*` is what lets each of them read the
 * error: no cookie is in play, and the body holds nothing but a code.
 */
export const corsHeaders = (origins: readonly string[]): Record<string, string> => {
  const [origin, ...others] = origins;
  if (origin === undefined) return {};
  return {
    'Access-Control-Allow-Origin': others.length === 0 ? origin : '*',
    'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After',
  };
};

/** @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html: only simple variables, no VTL. */
const template = (code: string, message: string) =>
  JSON.stringify({ error: { code, message, type: 'gateway_error', requestId: '$context.requestId' } });
