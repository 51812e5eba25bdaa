import type { ServerResponse } from 'node:http';
import type { ApiBody } from './definition.ts';

/** Responses of API Gateway itself without an override. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const defaults = {
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  /** The function failed or returned no valid response. */
  DEFAULT_5XX: { status: 502, message: 'Internal server error' },
} as const;

export type GatewayResponseType = keyof typeof defaults;

export type RespondAsGateway = (type: GatewayResponseType, requestId: string, response: ServerResponse) => void;

const HEADER = 'gatewayresponse.header.';

/** Responds where no function does, with the definition's overrides of API Gateway's own responses. */
export const gatewayResponses = ({ 'x-amazon-apigateway-gateway-responses': overrides }: ApiBody): RespondAsGateway => {
  return (type, requestId, response) => {
    const { status, message } = defaults[type];
    const override = overrides[type] ?? overrides[status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'];
    const variables: Readonly<Record<string, string>> = {
      'context.requestId': requestId,
      'context.extendedRequestId': requestId,
      'context.error.message': message,
      'context.error.messageString': JSON.stringify(message),
      'context.error.responseType': type,
    };
    const template = override?.responseTemplates['application/json'] ?? '{"message":$context.error.messageString}';
    const body = template.replace(
      /\$(context\.[A-Za-z.]*[A-Za-z])/g,
      (whole, name: string) => variables[name] ?? whole,
    );
    const headers = Object.entries(override?.responseParameters ?? {}).flatMap(([name, value]) =>
      name.startsWith(HEADER)
        ? [[name.slice(HEADER.length), value.startsWith("'") ? value.slice(1, -1) : (variables[value] ?? '')] as const]
        : [],
    );
    response
      .writeHead(Number(override?.statusCode ?? status), {
        'Content-Type': 'application/json',
        'x-amzn-RequestId': requestId,
        'x-amzn-ErrorType': type,
        ...Object.fromEntries(headers),
      })
      .end(body);
  };
};
