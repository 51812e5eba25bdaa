import * as z from 'zod/mini';
import { ForbiddenError, invalid } from '../domain/errors.ts';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import type { MappedError } from './error-map.ts';

/** The revisions of the Model Context Protocol that the SDK speaks. @see SUPPORTED_PROTOCOL_VERSIONS of @modelcontextprotocol/sdk */
export const mcpVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The address of the server, and of what says who issues its tokens (RFC 9728). @param origin of the API */
export const mcpUrl = (origin: string): string => `${origin}/api/mcp`;
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/api/mcp';

/**
 * Checks the headers of a request by the transport's rules. Whether a client accepts streams is not asked: every response is JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning
 * @param headers by lower-case name
 * @param origins whose pages may call
 * @throws ForbiddenError for a page of another origin, @throws ValidationError for an unknown version of the protocol
 */
export const checkMcpHeaders = (
  headers: Readonly<Record<string, string | undefined>>,
  origins: readonly string[],
): void => {
  const { origin, 'mcp-protocol-version': version } = headers;
  if (origin !== undefined && !origins.includes(origin))
    throw new ForbiddenError(
      'Pages of this origin may not call this service: corsOrigins of the deployment lists them.',
    );
  if (version !== undefined && !mcpVersions.includes(version))
    throw invalid('MCP-Protocol-Version', `must be one of ${mcpVersions.join(', ')}`);
};

/** @see https://www.jsonrpc.org/specification#error_object; the others are free for servers */
const rpcCodes: Partial<Record<ErrorCode, number>> = { VALIDATION_ERROR: -32_600, INTERNAL: -32_603 };
const SERVER_ERROR = -32_000;
const PARSE_ERROR = -32_700;

export const mcpErrorSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.null(),
    error: z.object({
      code: z.int(),
      message: z.string(),
      data: z.looseObject({
        code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
        requestId: z.string(),
      }),
    }),
  })
  .register(z.globalRegistry, { id: 'McpError' });

/** The body of an error of HTTP, in the form of JSON-RPC. Our own error is its `data`. */
export const mcpErrorBody = ({ code, message, violations }: MappedError, requestId: string, isJson = true): object => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: isJson ? (rpcCodes[code] ?? SERVER_ERROR) : PARSE_ERROR,
    message,
    data: { code, requestId, ...(violations && { details: violations }) },
  },
});
