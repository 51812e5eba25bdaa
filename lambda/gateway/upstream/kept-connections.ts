import type { Agent } from 'node:http';

const idleSince = new WeakMap<object, number>();

/** Makes an agent note when it puts a connection by. */
export const notingIdleTimes = <A extends Agent>(agent: A): A => {
  const keep = agent.keepSocketAlive;
  agent.keepSocketAlive = function (socket) {
    idleSince.set(socket, Date.now());
    return keep.call(this, socket);
  };
  return agent;
};

/**
 * Closes kept connections that stood idle for longer, by the wall clock. An agent's own time-outs do not run in a process that is
 * frozen, as between two invocations of Lambda, nor can such a process see its connections die: they swallow what is sent.
 */
export const dropIdleConnections = (agent: Agent, maxIdleMs: number): void => {
  const tooOld = Date.now() - maxIdleMs;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) if ((idleSince.get(socket) ?? 0) < tooOld) socket.destroy();
};
