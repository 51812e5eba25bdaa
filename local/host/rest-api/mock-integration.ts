import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Integration } from './routes.ts';

const HEADER = 'method.response.header.';

/**
 * A MOCK integration, such as CDK makes for CORS preflights: fixed headers, and an Origin that the response template
 * compares with a further allowed one is let through. No other VTL is run.
 */
export const respondWithMock = (integration: Integration, request: IncomingMessage, response: ServerResponse): void => {
  const [fixed] = integration.IntegrationResponses;
  const headers = new Map(
    Object.entries(fixed?.ResponseParameters ?? {})
      .filter(([name]) => name.startsWith(HEADER))
      .map(([name, value]) => [name.slice(HEADER.length), value.replace(/^'|'$/g, '')]),
  );
  const template = fixed?.ResponseTemplates['application/json'] ?? '';
  const { origin } = request.headers;
  const others = [...template.matchAll(/\$origin == "([^"]+)"/g)].map(([, allowed]) => allowed);
  if (origin && others.includes(origin)) headers.set('Access-Control-Allow-Origin', origin);
  response.writeHead(Number(fixed?.StatusCode ?? 200), Object.fromEntries(headers)).end();
};
