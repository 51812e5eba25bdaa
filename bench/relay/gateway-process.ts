/** The gateway as a server, everything on: admission, metering, open and close events. */

import { createGatewayServer } from '../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../lambda/gateway/hosts/http-server.ts';

const gateway = createGatewayServer(process.env);
gatewayHttpServer((request, response) => {
  // Two labels lead to the two origins of the bench.
  const label = request.url?.startsWith('/v1/stream') ? 'together' : 'openai';
  gateway.handle(request, response, { label });
}).listen({ port: Number(process.env['PORT']), host: '127.0.0.1', backlog: 4096 });
