import { providerLabels } from '../../domain/providers.ts';

/** The gateway's own errors: the error table of the specification, and those that it leaves out. */
const table = {
  MISSING_SERVICE_KEY: {
    status: 400,
    message:
      'Add the header X-Service-Key with your account key (svc_…), which you find in the dashboard under Keys. A client without custom headers sends it in front of the path, /svc_…/v1/…, or of its credential, svc_…:<API key>.',
  },
  MISSING_AUTH: {
    status: 400,
    message: "Add the provider's own credential: Authorization: Bearer <API key>, x-api-key or x-goog-api-key.",
  },
  UNKNOWN_PROVIDER: {
    status: 400,
    message: `No provider belongs to this host. Use {label}.{gateway domain} with one of the labels ${providerLabels.join(', ')}.`,
  },
  INVALID_PLACE: {
    status: 400,
    message:
      'The path of this host begins with your resource (azure) or a region (bedrock, vertex), in lower-case letters, digits and hyphens: /my-resource/openai/v1/…, /us-east-1/model/…, /us-central1/v1/….',
  },
  SIGNED_REQUEST: {
    status: 400,
    message:
      'A request signed with AWS credentials cannot pass a proxy. Use an API key of Amazon Bedrock: Authorization: Bearer <API key>, in AWS SDKs the environment variable AWS_BEARER_TOKEN_BEDROCK.',
  },
  INVALID_SERVICE_KEY: {
    status: 401,
    message:
      'No account has this X-Service-Key, or the key was revoked or has expired. Compare it with those in the dashboard under Keys: it begins with svc_.',
  },
  ACCOUNT_INACTIVE: {
    status: 403,
    message:
      'This account is suspended or cancelled. To use the gateway again, pay its open invoices in the dashboard; if nothing is due, ask the operator.',
  },
  BUDGET_EXCEEDED: {
    status: 429,
    message: 'A budget of this account is used up, or has too little left for this request, and stops requests then.',
  },
  PAUSED: {
    status: 429,
    message:
      'A person or a rule of this account paused these requests. A member can end the pause in the dashboard under Limits.',
  },
  MODEL_NOT_ALLOWED: {
    status: 403,
    message:
      'This service key may not call this model, or not at this price. Choose what it may call, or ask an admin of the account.',
  },
  BUDGET_UNKNOWN: {
    status: 503,
    message:
      'The gateway cannot read at the moment whether a budget of this account is used up, and the budget stops requests then. Try again.',
  },
  PROVIDER_ERROR: {
    status: 502,
    message: 'The provider could not be reached. Try again; if it keeps failing, check the provider’s status page.',
  },
  WEBSOCKET_NOT_SUPPORTED: {
    status: 426,
    message: 'This gateway does not proxy WebSockets. Send the request over HTTP; responses stream there, too.',
  },
  BROWSER_NOT_ALLOWED: {
    status: 403,
    message:
      'The operator of this gateway has not allowed pages of this origin to call it from a browser. A page shows its keys to everybody who opens it: call from a server, or have the origin added to gateway.allowedOrigins.',
  },
  EXPECTATION_FAILED: {
    status: 417,
    message: 'The gateway knows no expectation but 100-continue. Send the request without the header Expect.',
  },
  MALFORMED_REQUEST: {
    status: 400,
    message: 'The request is not valid HTTP/1.1. Check the request line, the headers and the framing of the body.',
  },
  REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive. Send it again without pauses.' },
  HEADERS_TOO_LARGE: {
    status: 431,
    message: 'The request’s headers are larger than 64 KB in total. Send fewer or shorter ones.',
  },
  INTERNAL: {
    status: 500,
    message: 'The gateway failed on this request. Try again; include the request id when you report it.',
  },
} as const;

export type GatewayErrorCode = keyof typeof table;

export interface GatewayErrorResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

/** An error in words, with its code, where there is no room for the response. */
export const gatewayErrorText = (code: GatewayErrorCode): string => `${code}: ${table[code].message}`;

/**
 * The response for an error, in the service's one error shape, which the providers' SDKs show as an API error.
 *
 * @param details further members of the error
 */
export const gatewayErrorResponse = (
  code: GatewayErrorCode,
  requestId: string,
  reason?: string,
  details?: object,
): GatewayErrorResponse => {
  const { status, message } = table[code];
  const body = Buffer.from(
    JSON.stringify({
      error: {
        code,
        message: reason ? `${message} (${reason})` : message,
        type: 'gateway_error',
        requestId,
        ...details,
      },
    }),
  );
  return {
    status,
    headers: [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(body.length),
      'X-Service-Request-Id',
      requestId,
    ],
    body,
  };
};
