export type Send = (request: Request) => Promise<Response>;

/** Responses that may be asked about again. */
const REMEMBERED = 50;

/**
 * A page that refreshes itself gets the body of a response again only where it has changed. What was received is in memory until the
 * session ends: the API forbids browsers to store it.
 */
export const conditionalFetch = (send: Send, session: { onEnd(listener: () => void): void }): Send => {
  const received = new Map<string, Response>();
  session.onEnd(() => received.clear());
  return async (request) => {
    if (request.method !== 'GET') return send(request);
    const before = received.get(request.url);
    if (before) request.headers.set('if-none-match', before.headers.get('etag') as string);
    const response = await send(request);
    if (before && response.status === 304) return before.clone();
    received.delete(request.url);
    if (!response.ok || !response.headers.has('etag')) return response;
    // The body is read first: a view that closes before its end aborts it, and what is remembered with it.
    const whole = new Response(await response.text(), response);
    received.set(request.url, whole);
    if (received.size > REMEMBERED) received.delete(received.keys().next().value as string);
    return whole.clone();
  };
};
