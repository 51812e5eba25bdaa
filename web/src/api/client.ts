import createFetchClient from 'openapi-fetch';
import createQueryClient from 'openapi-react-query';
import { problemOf } from './problem.ts';
import type { paths } from './schema.d.ts';
import type { Session } from './session.ts';

type Send = (request: Request) => Promise<Response>;

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
    if (token === undefined) return fetch(request);
    // A body can be sent only once: the first attempt sends a copy.
    const response = await fetch(withToken(request.clone(), token));
    if (!(await refusesSession(response))) return response;
    session.discard(token);
    const renewed = await session.currentToken();
    if (renewed === undefined) return response;
    const second = await fetch(withToken(request, renewed));
    if (await refusesSession(second)) session.end('expired');
    return second;
  };

/** Responses that may be asked about again. */
const REMEMBERED = 50;

/**
 * A page that refreshes itself gets the body of a response again only where it has changed. What was received is in memory until the
 * session ends: the API forbids browsers to store it.
 */
const conditionalFetch = (send: Send, session: Session): Send => {
  const received = new Map<string, Response>();
  session.onEnd(() => received.clear());
  return async (request) => {
    if (request.method !== 'GET') return send(request);
    const before = received.get(request.url);
    if (before) request.headers.set('if-none-match', before.headers.get('etag') as string);
    const response = await send(request);
    if (before && response.status === 304) return before.clone();
    received.delete(request.url);
    if (response.ok && response.headers.has('etag')) received.set(request.url, response.clone());
    if (received.size > REMEMBERED) received.delete(received.keys().next().value as string);
    return response;
  };
};

/** An error says when to try again, as its header did. */
const withRetryTime = async (response: Response): Promise<Response> => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.ok || !Number.isFinite(seconds)) return response;
  const body = await response.json().catch(() => null);
  const error = { ...body?.error, retryAtMs: Date.now() + seconds * 1000 };
  return Response.json({ ...body, error }, { status: response.status });
};

/** The dashboard API, typed by its description (docs/openapi.json). */
export const createApi = (apiUrl: string, session: Session) => {
  const send = conditionalFetch(authorizedFetch(session), session);
  const client = createFetchClient<paths>({
    baseUrl: new URL(apiUrl, location.origin).href,
    fetch: async (request) => withRetryTime(await send(request)),
    querySerializer: { array: { style: 'form', explode: true } },
  });
  return { client, query: createQueryClient(client) };
};

export type Api = ReturnType<typeof createApi>;
