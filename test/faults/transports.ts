import { nodeUpstream } from '../../lambda/gateway/upstream/upstream-node.ts';
import { undiciUpstream } from '../../lambda/gateway/upstream/upstream-undici.ts';

/** The server's way to providers, and Lambda's: the same must hold for both. */
export const transports = { undici: undiciUpstream, 'node:http': nodeUpstream } as const;

export type Transport = typeof undiciUpstream;
export type TransportName = keyof typeof transports;
export const transportNames = Object.keys(transports) as TransportName[];

/** The same transport, which also tells what the gateway learns, once it has learned it. */
export const telling =
  (transport: Transport, tell: { readonly headers?: () => void; readonly error?: () => void }): Transport =>
  (timeouts) => {
    const upstream = transport(timeouts);
    return {
      ...upstream,
      send: (request, listener) =>
        upstream.send(request, {
          onData: (chunk) => listener.onData(chunk),
          onEnd: (trailers) => listener.onEnd(trailers),
          onRequestBytes: (chunk) => listener.onRequestBytes(chunk),
          onRequestEnd: () => listener.onRequestEnd(),
          onHeaders: (head) => {
            listener.onHeaders(head);
            tell.headers?.();
          },
          onError: (error) => {
            listener.onError(error);
            tell.error?.();
          },
        }),
    };
  };
