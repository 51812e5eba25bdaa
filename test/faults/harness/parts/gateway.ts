import type { AddressInfo } from 'node:net';
import { createGatewayServer } from '../../../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../../../lambda/gateway/hosts/http-server.ts';
import { servePart } from './serve-part.ts';

/** The gateway's server, alone in its process. */
const gateway = createGatewayServer(process.env);
const server = gatewayHttpServer(gateway.handle);
server.listen(0, '127.0.0.1', () =>
  servePart((server.address() as AddressInfo).port, async () => {
    server.closeIdleConnections();
    await new Promise((resolve) => server.close(resolve));
    await gateway.close();
  }),
);
