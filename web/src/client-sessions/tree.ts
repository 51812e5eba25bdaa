import type { SessionAgent } from '../api/responses.ts';

export interface AgentNode {
  readonly agent: SessionAgent;
  /** 0 for the main agent, and for an agent whose parent sent nothing. */
  readonly depth: number;
}

/** The agents of a session in the order of its tree: each after the agent that started it. */
export const agentTree = (agents: readonly SessionAgent[]): AgentNode[] => {
  const ids = new Set(agents.map(({ agentId }) => agentId));
  const placed = new Set<SessionAgent>();
  const below = (parentId: string | null, depth: number): AgentNode[] =>
    agents
      .filter((agent) => !placed.has(agent) && agent.agentId !== null && agent.parentAgentId === parentId)
      .flatMap((agent) => {
        placed.add(agent);
        return [{ agent, depth }, ...below(agent.agentId, depth + 1)];
      });
  const main = agents.filter(({ agentId }) => agentId === null);
  for (const agent of main) placed.add(agent);
  const started = [...main.map((agent) => ({ agent, depth: 0 })), ...below(null, main.length > 0 ? 1 : 0)];
  // Their parents sent nothing in this range, or name each other.
  const others = agents.filter((agent) => !placed.has(agent));
  const orphans = [
    ...others.filter(({ parentAgentId }) => !ids.has(parentAgentId)),
    ...others.filter(({ parentAgentId }) => ids.has(parentAgentId)),
  ];
  const rest = orphans.flatMap((agent): AgentNode[] => {
    if (placed.has(agent)) return [];
    placed.add(agent);
    return [{ agent, depth: 0 }, ...below(agent.agentId, 1)];
  });
  return [...started, ...rest];
};
