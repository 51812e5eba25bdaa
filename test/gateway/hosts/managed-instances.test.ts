import { once } from 'node:events';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sendResponsesConcurrently } from '../../../lambda/gateway/hosts/managed-instances.ts';

/** Holds every request until the test ends it. */
const startHolding = async () => {
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    held.push(response);
    server.emit('held');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { held, server, port: (server.address() as AddressInfo).port };
};

describe('the one connection of the runtime client', () => {
  let runtime: Awaited<ReturnType<typeof startHolding>>;
  const agents: Agent[] = [];

  beforeEach(async () => {
    runtime = await startHolding();
  });

  afterEach(() => {
    for (const agent of agents.splice(0)) agent.destroy();
    runtime.server.closeAllConnections();
    runtime.server.close();
  });

  /** As the runtime client makes it. */
  const singleConnection = (): Agent => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return agent;
  };
  const respond = (agent: Agent, port = runtime.port): void => {
    request({ agent, host: '127.0.0.1', port, method: 'POST' })
      .on('error', () => {})
      .end();
  };

  it('becomes as many as there are responses', async () => {
    sendResponsesConcurrently(`127.0.0.1:${runtime.port}`);
    const agent = singleConnection();
    respond(agent);
    await once(runtime.server, 'held');
    respond(agent);
    await once(runtime.server, 'held');
    expect(runtime.held).toHaveLength(2);
  });

  it('leaves the agents of other hosts as they are', async () => {
    sendResponsesConcurrently('127.0.0.1:9001');
    const agent = singleConnection();
    respond(agent);
    await once(runtime.server, 'held');
    expect(agent.maxSockets).toBe(1);
  });
});
