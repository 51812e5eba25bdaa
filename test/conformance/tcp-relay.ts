import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Passes bytes on to a local port until the test drops its connections, as a load balancer drops idle ones, or to forget
 * them, as a network does that has lost track: whatever is sent on them vanishes.
 */
export const startTcpRelay = async (port: number) => {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(target).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size / 2,
    drop,
    forget: (): void => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    stop: async (): Promise<void> => {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
