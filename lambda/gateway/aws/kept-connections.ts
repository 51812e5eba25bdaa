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
 * whatever it sends on one is lost. Where the clock was set back, nobody knows for how long one was idle.
 */
export const dropIdleConnections = (agent: Agent, maxIdleMs: number): void => {
  const now = Date.now();
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
    const idleMs = now - (idleSince.get(socket) ?? 0);
    if (idleMs < 0 || idleMs > maxIdleMs) socket.destroy();
  }
};
