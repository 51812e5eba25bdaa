import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { type App, definitions } from '../template/definitions.ts';

const gatewayResponseSchema = z.object({
  RestApiId: z.string(),
  ResponseType: z.string(),
  StatusCode: z.string().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

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

export type RespondAsGateway = (
  apiId: string | undefined,
  type: GatewayResponseType,
  requestId: string,
  response: ServerResponse,
) => void;

const HEADER = 'gatewayresponse.header.';

/** Responds where no function does, with the templates' overrides of API Gateway's own responses. */
export const gatewayResponses = (app: App): RespondAsGateway => {
  const overrides = definitions(app, gatewayResponseSchema, 'AWS::ApiGateway::GatewayResponse').map(
    ({ properties }) => properties,
  );
  return (apiId, type, requestId, response) => {
    const { status, message } = defaults[type];
    const ofApi = overrides.filter(({ RestApiId }) => RestApiId === apiId);
    const override =
      ofApi.find(({ ResponseType }) => ResponseType === type) ??
      ofApi.find(({ ResponseType }) => ResponseType === (status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'));
    const variables: Readonly<Record<string, string>> = {
      'context.requestId': requestId,
      'context.extendedRequestId': requestId,
      'context.error.message': message,
      'context.error.messageString': JSON.stringify(message),
      'context.error.responseType': type,
    };
    const template = override?.ResponseTemplates['application/json'] ?? '{"message":$context.error.messageString}';
    const body = template.replace(
      /\$(context\.[A-Za-z.]*[A-Za-z])/g,
      (whole, name: string) => variables[name] ?? whole,
    );
    const headers = Object.entries(override?.ResponseParameters ?? {}).flatMap(([name, value]) =>
      name.startsWith(HEADER)
        ? [[name.slice(HEADER.length), value.startsWith("'") ? value.slice(1, -1) : (variables[value] ?? '')] as const]
        : [],
    );
    response
      .writeHead(Number(override?.StatusCode ?? status), {
        'Content-Type': 'application/json',
        'x-amzn-RequestId': requestId,
        'x-amzn-ErrorType': type,
        ...Object.fromEntries(headers),
      })
      .end(body);
  };
};
