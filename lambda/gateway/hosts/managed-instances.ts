import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Agent, ClientRequest } from 'node:http';
import { logFault } from '../relay/fault-log.ts';

/** Published before a request waits for a connection. @see https://nodejs.org/api/diagnostics_channel.html#http */
const REQUEST_CREATED = 'http.client.request.created';

type CreatedRequest = ClientRequest & { readonly agent?: Agent };

/**
 * Lets Lambda's runtime client send several responses at once. Its agent has one connection for each thread (aws-lambda-ric 4.0.2,
 * `maxSockets: 1`), so a streamed response holds up all others of that thread until it ends.
 *
 * @param runtimeApi host and port that the runtime client sends responses to
 */
export const sendResponsesConcurrently = (runtimeApi: string): void => {
  const raiseLimit = (message: unknown): void => {
    const { request } = message as { readonly request: CreatedRequest };
    if (request.getHeader('host') !== runtimeApi) return;
    if (request.agent) request.agent.maxSockets = Number.POSITIVE_INFINITY;
    unsubscribe(REQUEST_CREATED, raiseLimit);
  };
  subscribe(REQUEST_CREATED, raiseLimit);
};

/**
 * Keeps a thread alive when a response's connection to the platform breaks: the runtime client then has a rejected promise
 * that nothing handles (`headersDone`), which would end the thread with all its other requests.
 */
export const surviveBrokenResponses = (): void => {
  process.on('unhandledRejection', (error) => logFault('not-assigned', error));
};
