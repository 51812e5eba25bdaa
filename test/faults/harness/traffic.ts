import { Agent, request as httpRequest } from 'node:http';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { pathOf } from './provider.ts';

/** One request of a client, and what it saw of it. */
export interface Sent {
  readonly n: number;
  /** Null where there was no response at all. */
  readonly status: number | null;
  readonly route: string | null;
  readonly requestId: string | null;
  /** The response came to its end. */
  readonly whole: boolean;
  /** To the response's headers. */
  readonly headersMs: number;
}

export interface Caller {
  readonly port: number;
  readonly serviceKey: string;
  readonly credential?: string;
  readonly stream?: boolean;
}

/** The provider's credential of all traffic that brings none of its own. */
export const TRAFFIC_CREDENTIAL = 'sk-traffic-3f6c1a';

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Sends request `n` and reads its response to the end. Never rejects. */
const send = (
  n: number,
  { port, serviceKey, credential = TRAFFIC_CREDENTIAL, stream = false }: Caller,
): Promise<Sent> =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    const body = JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hello.' }] });
    const none = { n, status: null, route: null, requestId: null, whole: false, headersMs: 0 };
    const outgoing = httpRequest(
      {
        agent,
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: pathOf(n),
        headers: {
          Host: 'openai.gateway.test',
          'X-Service-Key': serviceKey,
          Authorization: `Bearer ${credential}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        },
      },
      (response) => {
        const header = (name: string): string | null => (response.headers[name] as string | undefined) ?? null;
        const seen = {
          n,
          status: response.statusCode ?? null,
          route: header('x-service-route'),
          requestId: header('x-service-request-id'),
          headersMs: performance.now() - startedAt,
        };
        response.resume();
        response.on('error', () => {});
        response.on('close', () => resolve({ ...seen, whole: response.complete }));
      },
    );
    outgoing.on('error', () => resolve(none));
    outgoing.end(body);
  });

/** Numbers for requests, each given out once. */
export const requestNumbers = () => {
  let next = 0;
  return {
    /** So many more of them. */
    some: (count: number) => {
      const end = next + count;
      return (): number | undefined => (next < end ? next++ : undefined);
    },
    /** As long as something holds. */
    while: (holds: () => boolean) => (): number | undefined => (holds() ? next++ : undefined),
  };
};

/**
 * Requests one after the other until one is governed: the gateway knows the key, and the queue takes its events in time.
 *
 * @throws AssertionError when none is
 */
export const untilGoverned = async (caller: Caller, numbers: ReturnType<typeof requestNumbers>): Promise<Sent[]> => {
  const sent: Sent[] = [];
  const isGoverned = async (): Promise<boolean> => {
    sent.push(...(await drive(1, caller, numbers.some(1))));
    return sent.at(-1)?.route === 'governed';
  };
  await eventually(isGoverned, 'requests are governed', DELIVERY_MS, 50);
  return sent;
};

/** A client whose gateway is gone does not hammer on. */
const NO_RESPONSE_PAUSE_MS = 50;

/** So many clients, each sending its next request when the one before is over, until there is no next. */
export const drive = async (
  clients: number,
  caller: Caller | (() => Caller),
  next: () => number | undefined | Promise<number | undefined>,
  pauseMs = 0,
): Promise<Sent[]> => {
  const sent: Sent[] = [];
  const client = async (): Promise<void> => {
    for (let n = await next(); n !== undefined; n = await next()) {
      const seen = await send(n, typeof caller === 'function' ? caller() : caller);
      sent.push(seen);
      const waitMs = seen.status === null ? NO_RESPONSE_PAUSE_MS : pauseMs;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return sent;
};
