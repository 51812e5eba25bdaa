import { hashKey, useQueryClient } from '@tanstack/react-query';
import createFetchClient from 'openapi-fetch';
import createQueryClient, { type OpenapiQueryClient } from 'openapi-react-query';
import { useCallback } from 'react';
import { conditionalFetch, type Send } from './conditional-fetch.ts';
import { problemOf } from './problem.ts';
import type { paths } from './schema.d.ts';
import { fetchInTime, type Session } from './session.ts';

const withToken = (request: Request, token: string): Request => {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return new Request(request, { headers });
};

/** Codes of a 401 that is about a password or code in the body, not about the session. */
const ABOUT_CREDENTIALS = new Set(['INVALID_CREDENTIALS', 'TOTP_REQUIRED']);

const refusesSession = async (response: Response): Promise<boolean> =>
  response.status === 401 &&
  !ABOUT_CREDENTIALS.has(
    problemOf(
      await response
        .clone()
        .json()
        .catch(() => null),
    ).code,
  );

/**
 * Sends each request with the session's token. After a 401 it retries once with a new token; a second 401 ends the session, and
 * the session notifies every view.
 */
const authorizedFetch =
  (session: Session): Send =>
  async (request) => {
    const token = await session.currentToken();
    if (token === undefined) return fetchInTime(request);
    // A body can be sent only once: the first attempt sends a copy.
    const response = await fetchInTime(withToken(request.clone(), token));
    if (!(await refusesSession(response))) return response;
    session.discard(token);
    const renewed = await session.currentToken();
    if (renewed === undefined) return response;
    const second = await fetchInTime(withToken(request, renewed));
    if (await refusesSession(second)) session.end('expired');
    return second;
  };

/**
 * An error has a body, which says when to try again as its header did. The client would take one without a body for a success, and a page
 * would wait for figures for ever, or fail, where a success has none.
 */
const withBody = async ({ method }: Request, response: Response): Promise<Response> => {
  const isEmpty = method === 'GET' && response.headers.get('content-length') === '0';
  if (response.ok && !isEmpty) return response;
  const body = await response.json().catch(() => null);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const error = { ...body?.error, ...(Number.isFinite(seconds) && { retryAtMs: Date.now() + seconds * 1000 }) };
  return Response.json({ ...body, error }, { status: response.ok ? 502 : response.status });
};

/** A change that is on its way is not sent again: neither by a second click nor by a second Enter. */
const sentOnce = ({ useMutation }: OpenapiQueryClient<paths>) =>
  ((...change: Parameters<typeof useMutation>) => {
    const queryClient = useQueryClient();
    const result = useMutation(...change);
    const { mutate } = result;
    const [method, path] = change;
    const mutateOnce = useCallback<typeof mutate>(
      (variables, options) => {
        const sent = hashKey([variables]);
        const pending = queryClient.getMutationCache().findAll({ mutationKey: [method, path], status: 'pending' });
        if (pending.every(({ state }) => hashKey([state.variables]) !== sent)) mutate(variables, options);
      },
      [queryClient, mutate, method, path],
    );
    return { ...result, mutate: mutateOnce };
  }) as unknown as typeof useMutation;

/** The dashboard API, typed by its description (docs/openapi.json). */
export const createApi = (apiUrl: string, session: Session) => {
  const send = conditionalFetch(authorizedFetch(session), session);
  const client = createFetchClient<paths>({
    baseUrl: new URL(apiUrl, location.origin).href,
    fetch: async (request) => withBody(request, await send(request)),
    querySerializer: { array: { style: 'form', explode: true } },
  });
  const query = createQueryClient(client);
  return { client, query: { ...query, useMutation: sentOnce(query) } };
};

export type Api = ReturnType<typeof createApi>;
