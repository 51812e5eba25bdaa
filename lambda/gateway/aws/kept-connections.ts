import type { Agent } from 'node:http';

const idleSince = new WeakMap<object, number>();

/** Makes an agent record when each connection becomes idle. */
export const recordIdleTimes = <A extends Agent>(agent: A): A => {
  const keep = agent.keepSocketAlive;
  agent.keepSocketAlive = function (socket) {
    idleSince.set(socket, Date.now());
    return keep.call(this, socket);
  };
  return agent;
};

/**
 * Closes connections that have been idle for longer, by the wall clock. An agent's own timeouts do not run while the process
 * is frozen, as it is between two invocations on Lambda. Nor does such a process notice that a connection is dead, and
 * whatever it sends on one is lost.
 */
export const dropIdleConnections = (agent: Agent, maxIdleMs: number): void => {
  const tooOld = Date.now() - maxIdleMs;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) if ((idleSince.get(socket) ?? 0) < tooOld) socket.destroy();
};
