import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';

const operation = inGroup('Agents');

const id = z.union([z.string(), z.int()], 'must be text or a whole number');

export const callMcp = operation('callMcp', 'POST /mcp', {
  audits: 'Reads only.',
  summary: 'Ask about spend by the Model Context Protocol, with an API token',
  description:
    'One JSON-RPC message of the Streamable HTTP transport, without sessions: the response is JSON, not a stream. Its tools read what GET operations of this API read, each with the permission of that operation. `tools/list` describes them.',
  access: 'machine',
  permission: 'spend:read',
  isMcp: true,
  body: z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.optional(id),
    method: z.string().check(z.minLength(1), z.maxLength(128)),
    params: z.optional(z.looseObject({})),
  }),
  success: ok(
    'The JSON-RPC response. A notification (without an id) gets 202 and no body.',
    z.looseObject({
      jsonrpc: z.literal('2.0'),
      id: z.optional(id),
      result: z.optional(z.looseObject({})),
      error: z.optional(z.looseObject({ code: z.int(), message: z.string() })),
    }),
  ),
});

const refused = (id: string, method: 'GET' | 'DELETE', summary: string, description: string) =>
  operation(id, `${method} /mcp`, {
    audits: 'Changes nothing.',
    summary,
    description,
    access: 'machine',
    permission: 'spend:read',
    isMcp: true,
    success: { status: 204, description: 'Never: the response is 405.' },
    errors: ['METHOD_NOT_ALLOWED'],
  });

export const openMcpStream = refused(
  'openMcpStream',
  'GET',
  'Refused: this server sends no messages by itself',
  'The protocol wants 405 from servers that open no stream of events.',
);

export const endMcpSession = refused(
  'endMcpSession',
  'DELETE',
  'Refused: this server has no sessions',
  'The protocol wants 405 from servers whose sessions a client cannot end.',
);
