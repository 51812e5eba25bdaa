import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import { type Call, callOf } from './calls.ts';

/** Servers that stand in front of emulators, pass every request on, and record the signed ones. */
export const watchCalls = () => {
  const calls: Call[] = [];
  let isDown = (_: Call): boolean => false;
  const stops: (() => void)[] = [];

  /** @returns the endpoint of a new server in front of this one */
  const inFrontOf = async (endpoint: string): Promise<string> => {
    const server = createServer(async (incoming, outgoing) => {
      const body = await buffer(incoming);
      const { method = '', url = '/', headers } = incoming;
      const call = callOf({ method, url: new URL(url, endpoint), headers, body: body.toString() });
      if (call !== undefined) calls.push(call);
      if (call !== undefined && isDown(call)) {
        outgoing.writeHead(500).end();
        return;
      }
      // The host too, which is signed.
      const forwarded = request(new URL(url, endpoint), { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      });
      forwarded.once('error', () => outgoing.destroy());
      outgoing.once('close', () => forwarded.destroy());
      forwarded.end(body);
    });
    await listen(server);
    stops.push(() => stopServer(server));
    return urlOf(server);
  };
  return {
    inFrontOf,
    calls: calls as readonly Call[],
    /** Fails such calls from now on. */
    failWhere: (condition: (call: Call) => boolean): void => {
      isDown = condition;
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};
