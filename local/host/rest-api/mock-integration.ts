import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Integration } from './definition.ts';

const HEADER = 'method.response.header.';

/**
 * A mock integration, which responds to CORS preflights: fixed headers, and an Origin that the response template
 * compares with a further allowed one is let through. No other VTL is run.
 */
export const respondWithMock = (integration: Integration, request: IncomingMessage, response: ServerResponse): void => {
  const fixed = integration.responses?.default;
  const headers = new Map(
    Object.entries(fixed?.responseParameters ?? {})
      .filter(([name]) => name.startsWith(HEADER))
      .map(([name, value]) => [name.slice(HEADER.length), value.replace(/^'|'$/g, '')]),
  );
  const template = fixed?.responseTemplates['application/json'] ?? '';
  const { origin } = request.headers;
  const others = [...template.matchAll(/\$origin == "([^"]+)"/g)].map(([, allowed]) => allowed);
  if (origin && others.includes(origin)) headers.set('Access-Control-Allow-Origin', origin);
  response.writeHead(Number(fixed?.statusCode ?? 200), Object.fromEntries(headers)).end();
};
