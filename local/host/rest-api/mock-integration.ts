import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Integration } from './routes.ts';

const HEADER = 'method.response.header.';

/**
 * A MOCK integration, such as CDK makes for CORS preflights: fixed headers, and an Origin that the response template
 * compares with a further allowed one is let through. No other VTL is run.
 */
export const answerMock = (integration: Integration, request: IncomingMessage, response: ServerResponse): void => {
  const [answer] = integration.IntegrationResponses;
  const headers = new Map(
    Object.entries(answer?.ResponseParameters ?? {})
      .filter(([name]) => name.startsWith(HEADER))
      .map(([name, value]) => [name.slice(HEADER.length), value.replace(/^'|'$/g, '')]),
  );
  const template = answer?.ResponseTemplates['application/json'] ?? '';
  const { origin } = request.headers;
  const others = [...template.matchAll(/\$origin == "([^"]+)"/g)].map(([, allowed]) => allowed);
  if (origin && others.includes(origin)) headers.set('Access-Control-Allow-Origin', origin);
  response.writeHead(Number(answer?.StatusCode ?? 200), Object.fromEntries(headers)).end();
};
