import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { untrusted } from './untrusted.ts';

/** Origins that no request ever reaches, by the gateway label that leads to them. */
export interface BrokenOrigins {
  readonly origins: ReadonlyMap<string, string>;
  /** Bytes that came over a connection whose other end was not to be trusted. */
  leaked(): string;
  close(): Promise<void>;
}

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
};

export const startBrokenOrigins = async (): Promise<BrokenOrigins> => {
  const sockets = new Set<Socket>();
  let leaked = '';
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes: Buffer) => {
      leaked += bytes.toString('latin1');
    });
  };
  const silent = createTcpServer(keep);
  const garbage = createTcpServer((socket) => {
    keep(socket);
    socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  const noCertificate = createTlsServer({}, keep);
  const untrustedTls = createTlsServer(untrusted, keep);
  for (const server of [noCertificate, untrustedTls]) server.on('tlsClientError', () => {});
  const ports = await Promise.all([silent, garbage, noCertificate, untrustedTls].map(listen));
  const [silentPort, garbagePort, noCertificatePort, untrustedPort] = ports;
  return {
    origins: new Map([
      // A port that was just closed may be another's by now.
      ['anthropic', 'http://127.0.0.1:1'],
      ['google', `https://127.0.0.1:${silentPort}`],
      ['mistral', `https://127.0.0.1:${garbagePort}`],
      ['cohere', `https://127.0.0.1:${noCertificatePort}`],
      ['groq', `https://127.0.0.1:${untrustedPort}`],
      ['together', 'http://no-such-provider.invalid'],
    ]),
    leaked: () => leaked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      const close = (server: Server) => new Promise((resolve) => server.close(resolve));
      await Promise.all([silent, garbage, noCertificate, untrustedTls].map(close));
    },
  };
};
