import type { Logger } from '@aws-lambda-powertools/logger';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { invalid } from '../../domain/errors.ts';
import { mapError } from '../../http/error-map.ts';
import { requirePermission } from '../../http/http-stack.ts';
import type { Implementation, Input } from '../../http/operation.ts';
import type { callMcp as operation } from './operations.ts';
import type * as Sdk from './sdk.ts';
import { argumentSchema, type Tool, toolText } from './tools.ts';

interface McpDependencies {
  readonly tools: readonly Tool[];
  readonly logger: Pick<Logger, 'error'>;
}

const INSTRUCTIONS = `What requests to AI providers cost, as this account's gateway recorded it. Amounts are exact decimal strings in USD. \
"unknown" is not $0: unpricedRequests counts the requests that a cost leaves out. costByProvenance says how a cost is known: reported by the \
provider, computed from reported usage and prices, or estimated. Times and days are UTC. Where isComplete is false, sums are lower bounds, and \
mayAlsoMatch is the most that is missing. A response has at most 8,000 characters unless limit is named: where nextCursor is not null, there \
is more. A cost in the display currency (displayCost) is an amount of displayCurrency.`;

/** An error as an agent reads it: the agent may correct its arguments. */
const errorText = (error: unknown): string => {
  const { code, message, violations = [] } = mapError(error);
  return [`${code}: ${message}`, ...violations.map(({ path, message: fault }) => `${path} ${fault}`)].join('\n');
};

/** A server for one request: what it shows depends on the caller's role. */
const serverFor = (
  { Server, CallToolRequestSchema, ListToolsRequestSchema, ErrorCode, McpError }: typeof Sdk,
  { caller, requestId }: Pick<Input<typeof operation>, 'caller' | 'requestId'>,
  { tools, logger }: McpDependencies,
): Sdk.Server => {
  const server = new Server(
    { name: 'ai-spend', version: '0.2.0' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: tools
      .filter(({ route }) => scopeOf(caller).permits(route.operation.permission as never))
      .map((tool) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: argumentSchema(tool),
        annotations: { readOnlyHint: true, openWorldHint: false },
      })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: asked = {} } }) => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name}.`);
    try {
      requirePermission(caller, tool.route.operation.permission as never);
      return { content: [{ type: 'text', text: await toolText(tool, asked, { caller, requestId }) }] };
    } catch (error) {
      if (mapError(error).code === 'INTERNAL')
        logger.error('tool failed', { requestId, tool: name, error: error as Error });
      return { isError: true, content: [{ type: 'text', text: errorText(error) }] };
    }
  });
  return server;
};

/** Says what is wrong with the parameters of a method. The SDK would call it an internal error. */
const paramsProblem = (
  { CallToolRequestSchema, InitializeRequestSchema, ListToolsRequestSchema }: typeof Sdk,
  body: Input<typeof operation>['body'],
): string | undefined => {
  const schemas = [CallToolRequestSchema, InitializeRequestSchema, ListToolsRequestSchema];
  const schema = schemas.find(({ shape }) => shape.method.value === body.method);
  return schema
    ?.safeParse(body)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('\n');
};

/** Responds to one message. There are no sessions: a notification has nothing to change. */
export const respondToMcp =
  (dependencies: McpDependencies): Implementation<typeof operation> =>
  async ({ body, caller, requestId }) => {
    if (body.id === undefined) return undefined;
    const sdk = await import('#mcp-sdk');
    if (!sdk.isJSONRPCRequest(body)) throw invalid('', 'must be a JSON-RPC request');
    const problem = paramsProblem(sdk, body);
    if (problem !== undefined)
      return { jsonrpc: '2.0', id: body.id, error: { code: sdk.ErrorCode.InvalidParams, message: problem } };
    const server = serverFor(sdk, { caller, requestId }, dependencies);
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    await server.connect({
      start: async () => {},
      close: async () => {},
      send: async (message) => resolve(message),
    });
    server.transport?.onmessage?.(body);
    return (await promise) as Awaited<ReturnType<Implementation<typeof operation>>>;
  };
