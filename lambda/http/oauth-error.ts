import * as z from 'zod/mini';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import type { MappedError } from './error-map.ts';

/** @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2; the last two, which that section lacks, are those of section 4.1.2.1 */
const oAuthErrorCodes = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_scope',
  'temporarily_unavailable',
  'server_error',
] as const;
export type OAuthErrorCode = (typeof oAuthErrorCodes)[number];

export const oAuthErrorSchema = z
  .object({
    error: z.enum(oAuthErrorCodes),
    error_description: z.string().check(z.describe('What happened and what to do next, in plain text.')),
  })
  .register(z.globalRegistry, { id: 'OAuthError' });

/** A refusal that has a code of its own in OAuth 2. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}

const codeOf: Partial<Record<ErrorCode, OAuthErrorCode>> = {
  VALIDATION_ERROR: 'invalid_request',
  PAYLOAD_TOO_LARGE: 'invalid_request',
  UNAUTHORIZED: 'invalid_client',
  RATE_LIMITED: 'temporarily_unavailable',
  UNAVAILABLE: 'temporarily_unavailable',
};

/** Statuses of the codes of section 5.2; the others have that of our own code. */
const statusOf: Partial<Record<OAuthErrorCode, number>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
};

/** A description may hold printable ASCII without `"` and `\`. @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
const asDescription = (text: string) => text.replaceAll('"', "'").replaceAll(/[^\x20-\x7e]|\\/g, '?');

const descriptionOf = ({ message, violations = [] }: MappedError): string =>
  asDescription(
    violations.length === 0
      ? message
      : violations.map(({ path, message: fault }) => (path ? `${path} ${fault}` : fault)).join('; '),
  );

/** The response of an OAuth 2 endpoint to an error. */
export const oAuthErrorResult = (error: unknown, mapped: MappedError) => {
  const code = error instanceof OAuthError ? error.code : (codeOf[mapped.code] ?? 'server_error');
  const body: z.infer<typeof oAuthErrorSchema> = {
    error: code,
    error_description: error instanceof OAuthError ? asDescription(error.message) : descriptionOf(mapped),
  };
  return {
    statusCode: statusOf[code] ?? errorCodes[mapped.code].status,
    headers: {
      Pragma: 'no-cache',
      ...(code === 'invalid_client' && { 'WWW-Authenticate': 'Basic realm="API tokens"' }),
    },
    body,
  };
};
