import type { Socket } from 'node:net';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { type GatewayHost, type HostSettings, KEYS } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import type { RawOrigin } from '../raw/raw-origin.ts';

/** What happens to a gateway's exchange with its provider, to be waited for. */
export interface Moments {
  headers: () => void;
  error: () => void;
}

export interface Context {
  readonly origin: RawOrigin;
  readonly start: (settings: Partial<HostSettings>, moments?: Partial<Moments>) => Promise<GatewayHost>;
}
export const GOOD = `Host: openai.gateway.test\r\nX-Service-Key: ${KEYS.active}\r\nAuthorization: Bearer sk-client\r\n`;
export const GET = `GET /v1/x HTTP/1.1\r\n${GOOD}\r\n`;
export const UPLOAD = `POST /v1/files HTTP/1.1\r\n${GOOD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;
/** Gathered before it is forwarded, as its usage may have to be asked for. */
export const CHAT = `POST /v1/chat/completions HTTP/1.1\r\n${GOOD}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"stream":true,`;
export const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const EVENT = '9\r\ndata: 1\n\n\r\n';

export const firstClose = async (host: GatewayHost): Promise<CloseEvent> => {
  await eventually(() => host.closes().length > 0, 'the request is finished');
  return host.closes()[0] as CloseEvent;
};

export const silent = (): void => {};
export const endless = (socket: Socket): void => {
  socket.write(STREAM);
  const timer = setInterval(() => socket.write(EVENT), 2);
  socket.on('close', () => clearInterval(timer));
};
