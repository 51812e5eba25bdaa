import * as z from 'zod/mini';
import { operation } from '../../http/operation.ts';

const id = z.union([z.string(), z.int()], 'must be text or a whole number');

export const callMcp = operation({
  id: 'callMcp',
  method: 'POST',
  path: '/mcp',
  group: 'Agents',
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
  success: {
    status: 200,
    description: 'The JSON-RPC response. A notification (without an id) gets 202 and no body.',
    schema: z.looseObject({
      jsonrpc: z.literal('2.0'),
      id: z.optional(id),
      result: z.optional(z.looseObject({})),
      error: z.optional(z.looseObject({ code: z.int(), message: z.string() })),
    }),
  },
});

export const openMcpStream = operation({
  id: 'openMcpStream',
  method: 'GET',
  path: '/mcp',
  group: 'Agents',
  summary: 'Refused: this server sends no messages by itself',
  description: 'The protocol wants 405 from servers that open no stream of events.',
  access: 'machine',
  permission: 'spend:read',
  isMcp: true,
  success: { status: 204, description: 'Never.' },
  errors: ['METHOD_NOT_ALLOWED'],
});
